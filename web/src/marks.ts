// What is marked on the lanes: a range, evidence and matches, the selected row, and what led to it.

import type { Marks } from "./columns";
import { upperBound } from "./intervals";
import { type Line, PAD, ROW, RULER, topOf } from "./layout";
import { bands } from "./raster";
import { type Covering, predictionOf, type Scene, timesOf } from "./scene";
import type { Match } from "./search";
import { xOf } from "./view";

/** Most marks in view that are outlined each; of more, lanes are nothing but outlines. */
const OUTLINED = 2_000;
/** Most arrows: more of them are a tangle. */
const ARROWS = 60;
const HEAD = 5;

/** Whether a line is among those that are drawn. */
type IsOn = (line: Line) => boolean;

/** The marked range. */
export function shade(context: CanvasRenderingContext2D, scene: Scene): void {
  if (!scene.range) return;
  const width = scene.width - scene.gutter;
  const [left, right] = [xOf(scene.view, width, scene.range.start), xOf(scene.view, width, scene.range.end)];
  context.globalAlpha = 0.14;
  context.fillStyle = scene.theme.accent;
  context.fillRect(left, 0, right - left, scene.height);
  context.globalAlpha = 1;
  context.fillRect(left, 0, 1, scene.height);
  context.fillRect(right, 0, 1, scene.height);
}

/** Marks below the axis, bands of some opacity over all lanes, and outlines of the bars themselves. */
export function marks(context: CanvasRenderingContext2D, scene: Scene, marked: Marks & Covering, opacity: number, thick: number, isOn: IsOn): void {
  const { view, theme } = scene;
  context.fillStyle = theme.mark;
  for (const [left, right] of bands(marked.covered, view, scene.width - scene.gutter)) {
    context.globalAlpha = opacity;
    context.fillRect(left, RULER, right - left, scene.height);
    context.globalAlpha = 1;
    context.fillRect(left, RULER - 4, right - left, 4);
  }
  const { starts, ends, lanes, rows, covered } = marked;
  // What is seen stands in pieces that are seen, and starts no earlier than the first of them.
  const first = covered.starts[Math.max(upperBound(covered.starts, view.start) - 1, 0)];
  const [low, high] = [upperBound(starts, first - 1), upperBound(starts, view.end)];
  if (high - low > OUTLINED) return;
  for (let i = low; i < high; i++) {
    if (lanes[i] >= 0 && ends[i] >= view.start) outline(context, scene, { lane: lanes[i], row: rows[i] }, theme.mark, thick, isOn);
  }
}

/** The bar of a row; null where its line is not among those that are drawn. */
function barOf(scene: Scene, match: Match, isOn: IsOn): { left: number; right: number; y: number } | null {
  const line = scene.lines.find((each) => each.kind === "lane" && each.lane === scene.places.lane[match.lane][match.row]);
  if (!line || !isOn(line)) return null;
  const width = scene.width - scene.gutter;
  const { start, end } = timesOf(scene, match);
  const y = topOf(line, scene.scroll) + RULER + PAD / 2 + scene.places.row[match.lane][match.row] * ROW;
  return { left: Math.max(xOf(scene.view, width, start), -4), right: Math.min(xOf(scene.view, width, end), width + 4), y };
}

export function outline(context: CanvasRenderingContext2D, scene: Scene, match: Match, color: string, thick: number, isOn: IsOn): void {
  const bar = barOf(scene, match, isOn);
  if (!bar) return;
  const { left, right, y } = bar;
  context.strokeStyle = color;
  context.lineWidth = thick;
  context.strokeRect(left, y + 0.5, Math.max(right - left - 1, 2), ROW - 1);
}

/** From a prediction to what it waited for, one after the other and back, or to the selected part of it. */
export function arrows(context: CanvasRenderingContext2D, scene: Scene, isOn: IsOn): void {
  context.strokeStyle = context.fillStyle = scene.theme.text;
  context.lineWidth = 1.5;
  const { finding, selected } = scene;
  if (finding?.slow) {
    const waits = Array.from(finding.rows, (row, i) => ({ lane: finding.lanes[i], row })).filter(({ lane }) => lane >= 0);
    const chain = [finding.slow, ...waits.slice(0, ARROWS), finding.slow].map((match) => barOf(scene, match, isOn));
    for (let i = 1; waits.length && i < chain.length; i++) {
      const [from, to] = [chain[i - 1], chain[i]];
      // It began to wait when it was called, and went on when the last wait was over.
      if (from && to) arrow(context, i === 1 ? Math.max(from.left, Math.min(to.left, from.right)) : from.right, from.y, i === chain.length - 1 ? from.right : to.left, to.y);
    }
  }
  const prediction = selected && predictionOf(scene, selected);
  const [from, to] = [prediction && barOf(scene, prediction, isOn), selected && barOf(scene, selected, isOn)];
  if (from && to) arrow(context, Math.max(from.left, Math.min(to.left, from.right)), from.y, to.left, to.y);
}

function arrow(context: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number): void {
  const down = toY >= y;
  const same = toY === y;
  const [start, end] = same ? [y + ROW / 2, y + ROW / 2] : [y + (down ? ROW - 1 : 1), toY + (down ? 0 : ROW)];
  const bend = same ? 0 : (end - start) / 2;
  context.beginPath();
  context.moveTo(x, start);
  context.bezierCurveTo(x, start + bend, toX, end - bend, toX, end);
  context.stroke();
  context.beginPath();
  context.moveTo(toX, end);
  const back = down ? -HEAD : HEAD;
  context.lineTo(same ? toX - HEAD : toX - HEAD / 2, same ? end - HEAD / 2 : end + back);
  context.lineTo(same ? toX - HEAD : toX + HEAD / 2, same ? end + HEAD / 2 : end + back);
  context.fill();
}
