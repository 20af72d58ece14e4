// The charts of latencies answer the pointer: which prediction is there, and a click shows it on the timeline.

import { CALL, type Meta, type Rows } from "./columns";
import { el } from "./dom";
import { upperBound } from "./intervals";
import type { Match } from "./search";
import { counted, duration, moment } from "./units";

/** Pixels from a dot in which it is meant. */
const NEAR = 24;

type Axes = ReturnType<typeof axesOf>;

/** Lets all charts of a page answer; `show` leads to a prediction. */
export function answer(meta: Meta, all: readonly Rows[], show: (match: Match) => void): void {
  const lane = meta.lanes.findIndex(({ id }) => id === "activity");
  if (lane < 0) return;
  for (const drawing of document.querySelectorAll<SVGElement>(".plot svg[data-model]")) {
    const model = meta.texts.indexOf(drawing.dataset.model ?? "");
    const { flags, models } = all[lane];
    let found: number[] | null = null;
    const calls = (): number[] => (found ??= Array.from(flags.keys()).filter((row) => flags[row] & CALL && models[row] === model));
    follow(drawing, all[lane], calls, (row) => show({ lane, row }));
  }
}

function follow(drawing: SVGElement, rows: Rows, calls: () => number[], show: (row: number) => void): void {
  const tip = el("div", { class: "tip", hidden: true });
  const dot = el("div", { class: "dot", hidden: true });
  drawing.after(tip, dot);
  const find = drawing.dataset.bins ? inBin : nearest;
  const under = (event: MouseEvent): Found | null => {
    const box = drawing.getBoundingClientRect();
    return find(drawing, axesOf(drawing, box), rows, calls(), event.clientX - box.left, event.clientY - box.top);
  };
  drawing.addEventListener("pointermove", (event) => {
    const found = under(event);
    tip.hidden = !found;
    dot.hidden = !found?.dot;
    if (!found) return;
    tip.textContent = found.words;
    const { width } = drawing.getBoundingClientRect();
    tip.style.transform = `translate(${Math.min(Math.max(found.x - tip.offsetWidth / 2, 0), width - tip.offsetWidth)}px, -1.8rem)`;
    if (found.dot) dot.style.transform = `translate(${found.x}px, ${found.dot}px)`;
  });
  drawing.addEventListener("pointerleave", () => (tip.hidden = dot.hidden = true));
  drawing.addEventListener("click", (event) => {
    const found = under(event);
    if (found) show(found.row);
  });
}

interface Found { row: number; words: string; x: number; dot?: number }

/** What a chart says of itself (tracekit/documents/pictures.py); `at` is the place of a duration, 0 to 1. */
function axesOf({ dataset }: SVGElement, { width, height }: DOMRect) {
  const [low, high] = [Number(dataset.low), Number(dataset.high)];
  const at = (length: number): number =>
    dataset.log ? Math.log(Math.max(length, low) / low) / Math.log(high / low) : (length - low) / (high - low);
  return { at, width, height };
}

/** The prediction whose dot is nearest. */
function nearest({ dataset }: SVGElement, axes: Axes, rows: Rows, calls: number[], x: number, y: number): Found | null {
  const [from, to] = [Number(dataset.from), Number(dataset.to)];
  const xOf = (row: number): number => ((rows.starts[row] - from) / (to - from)) * axes.width;
  const yOf = (row: number): number => (1 - axes.at(rows.ends[row] - rows.starts[row])) * axes.height;
  let [best, least] = [-1, NEAR];
  const first = upperBound(Float64Array.from(calls, (row) => rows.starts[row]), from + ((x - NEAR) / axes.width) * (to - from));
  for (let i = first; i < calls.length && xOf(calls[i]) <= x + NEAR; i++) {
    const away = Math.hypot(xOf(calls[i]) - x, yOf(calls[i]) - y);
    if (away < least) [best, least] = [calls[i], away];
  }
  if (best < 0) return null;
  const words = `${duration(rows.ends[best] - rows.starts[best])} at ${moment(rows.starts[best])}`;
  return { row: best, words, x: xOf(best), dot: yOf(best) };
}

/** The longest prediction of the bar. */
function inBin({ dataset }: SVGElement, axes: Axes, rows: Rows, calls: number[], x: number): Found | null {
  const bins = Number(dataset.bins);
  const length = (row: number): number => rows.ends[row] - rows.starts[row];
  const bin = Math.min(Math.floor((x / axes.width) * bins), bins - 1);
  const inside = calls.filter((row) => Math.min(Math.max(Math.floor(axes.at(length(row)) * bins), 0), bins - 1) === bin);
  if (!inside.length) return null;
  const row = inside.reduce((best, each) => (length(each) > length(best) ? each : best));
  const shortest = inside.reduce((least, each) => Math.min(least, length(each)), Infinity);
  const lengths = [...new Set([duration(shortest), duration(length(row))])].join(" to ");
  return { row, words: `${counted(inside.length, "prediction")}, ${lengths}`, x: ((bin + 0.5) / bins) * axes.width };
}
