// Adds to a page that is complete without it: sorting, links to the lanes, the lanes themselves, light and dark, print.

import { decoded, inflated, type Meta, type Rows } from "./columns";
import { answer } from "./charts";
import { copyButton, prepareCode } from "./code";
import { button, el } from "./dom";
import { written } from "./fragment";
import { prepare } from "./tables";
import { FlameGraph, type Part } from "./flame";
import { Covered } from "./intervals";
import { grouped } from "./lanes";
import { Timeline } from "./timeline";
import { trends } from "./trends";

/** Width of the lanes on paper, in pixels of the page. */
const PAPER = 1040;

/** What has to be drawn again for other colors or another width. */
const drawn: { recolor(): void; print(width: number): void }[] = [];

function links(): void {
  for (const place of document.querySelectorAll<HTMLElement>(".jump")) {
    const href = written({ finding: place.dataset.check });
    const words = place.querySelector(".place");
    words?.replaceWith(el("a", { class: "button", href }, `${words.textContent} on the timeline`));
  }
  for (const place of document.querySelectorAll<HTMLElement>(".at")) {
    const range = { start: Number(place.dataset.from), end: Number(place.dataset.to) };
    if (range.end <= range.start) continue;
    place.replaceWith(el("a", { href: written({ range }), title: "Show on the timeline" }, place.textContent));
  }
}

/** The other scheme than the one that is on. It is kept in the page alone: files share no memory. */
function schemes(): void {
  const root = document.documentElement;
  const isDark = (): boolean => {
    const chosen = root.style.colorScheme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const recolor = (): void => drawn.forEach((each) => each.recolor());
  const turn = button("Theme", () => {
    root.style.colorScheme = isDark() ? "light" : "dark";
    recolor();
  }, "Theme: light or dark");
  turn.className = "scheme";
  // Pages of few sections have no links to these.
  (document.querySelector("nav") ?? document.querySelector(".top"))?.append(turn);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
}

function printing(): void {
  const root = document.documentElement;
  let opened: HTMLDetailsElement[] = [];
  let scheme = "";
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    for (const each of opened) each.open = true;
    scheme = root.style.colorScheme;
    root.style.colorScheme = "light";
    for (const each of drawn) each.print(PAPER);
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
    root.style.colorScheme = scheme;
    for (const each of drawn) each.print(0);
  });
}

/** What each model was busy with: samples in Core ML during its loads and predictions, as `tracekit stacks --model`. */
function partsOfModels(meta: Meta, all: Rows[]): Part[] {
  const rows = all[meta.lanes.findIndex((lane) => lane.id === "activity")];
  if (!rows) return [];
  return [...grouped(rows.models)]
    .filter(([model]) => model >= 0)
    .map(([model, positions]) => ({
      words: `in Core ML, for ${meta.texts[model]}`,
      covered: Covered.of(rows.starts, rows.ends, positions),
      library: "CoreML",
    }))
    .sort((a, b) => (a.words < b.words ? -1 : 1));
}

/** What the page holds for an element to be drawn, and its bytes; null where it has none of that name. */
async function held(name: string): Promise<[HTMLElement, Meta, Uint8Array] | null> {
  const [host, meta, columns] = [name, `${name}-meta`, `${name}-columns`].map((id) => document.getElementById(id));
  if (!host || !meta || !columns) return null;
  if (typeof DecompressionStream === "undefined") {
    host.append(el("p", {}, "This browser is too old to draw this. Everything else is complete."));
    return null;
  }
  const bytes = await inflated(columns.textContent ?? "");
  // What the texts held is in the arrays now.
  columns.remove();
  return [host, JSON.parse(meta.textContent ?? "") as Meta, bytes];
}

/** Inferred loads have a color of their own; only the script tells them from inferred predictions. */
function tellLoads(meta: Meta, all: Rows[]): void {
  const inferred = meta.categories.findIndex(([name]) => name === "inferred");
  const load = meta.categories.push(["inferred_load", `load ${meta.categories[inferred]?.[1].replace(/^\S+ /, "")}`]) - 1;
  meta.outlined.push(load);
  for (const { inferred: known, categories, labels } of all) {
    if (!known) continue;
    categories.forEach((category, at) => category === inferred && /load/i.test(meta.texts[labels[at]] ?? "") && (categories[at] = load));
  }
}

/** The lanes of one recording, with its call stacks. */
async function lanes(name: string): Promise<Timeline | null> {
  const found = await held(name);
  if (!found) return null;
  const [host, meta, bytes] = found;
  const { rows, flame, findings, accounts } = decoded(meta, bytes);
  tellLoads(meta, rows);
  const place = document.getElementById("flame");
  const graph = flame && place ? new FlameGraph(place, flame, meta.source, partsOfModels(meta, rows)) : null;
  const timeline = new Timeline(host, meta, rows, findings, accounts, (part) => graph?.show(part));
  if (meta.origin === undefined) answer(meta, rows, (match) => timeline.visit(match));
  drawn.push(timeline);
  if (graph) drawn.push(graph);
  return timeline;
}

/** The call stacks of a page without lanes. */
async function callStacks(): Promise<void> {
  const found = await held("flame");
  if (!found) return;
  const [place, meta, bytes] = found;
  const flame = decoded(meta, bytes).flame!;
  const graph = new FlameGraph(place, flame, meta.source, []);
  const all = Covered.of(Float64Array.of(0), Float64Array.of(flame.times[flame.times.length - 1] + 1));
  graph.show({ words: "", covered: all });
  drawn.push(graph);
  place.dataset.ready = "";
}

/** One recording, or two that move together. */
async function timelines(): Promise<void> {
  const names = ["lanes", "lanes-after"];
  const [first, second] = [await lanes(names[0]), await lanes(names[1])];
  if (first && second) first.pair(second);
  names.forEach((name, at) => [first, second][at] && (document.getElementById(name)!.dataset.ready = ""));
}

for (const table of document.querySelectorAll("table")) prepare(table);
for (const block of document.querySelectorAll("pre")) prepareCode(block);
for (const command of document.querySelectorAll(".command")) command.after(" ", copyButton(command.textContent ?? ""));
links();
schemes();
printing();
trends();
void timelines();
void callStacks();
