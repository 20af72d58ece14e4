// The flame graph: what running threads were doing in the part of time that a reader looks at.

import { type Box, boxes, holds, inOrderOfTime, inverted, samplesIn, sandwich, weights } from "./calltree";
import { context, sized } from "./canvas";
import type { Flame } from "./columns";
import { button, el } from "./dom";
import { Covered } from "./intervals";
import { fitted } from "./titles";
import { inkOn, type Theme, themeOf } from "./theme";
import { count, counted } from "./units";

/** Times, and what they are in words. */
export interface Part {
  words: string;
  covered: Covered;
  /** Counts only what is in functions of this library. */
  library?: string;
}

const ROW = 17;
const TALLEST = 480;
/** Height of the lines above and below. */
const BORDERS = 2;
/** Most levels on paper: more would not fit on a page. */
const PRINTED = 36;
const FONT = "11px system-ui, sans-serif";

export class FlameGraph {
  private readonly canvas = el("canvas", { role: "img" });
  private readonly viewport = el("div", { class: "flame", tabindex: 0, role: "region", "aria-label": "Flame graph" });
  private readonly title = el("p", { role: "status" });
  private readonly about = el("p", { class: "about" });
  private readonly back = button("Whole tree", () => this.enter(-1));
  private theme: Theme;
  private readonly turn = button("Invert", () => this.invert());
  private readonly order = el(
    "select",
    { "aria-label": "Order of the boxes", onchange: () => this.reorder() },
    el("option", { value: "weight" }, "Most samples first"),
    el("option", { value: "time" }, "In order of time"),
    el("option", { value: "sandwich" }, "Callers and callees"),
  );
  private readonly choice = el("select", { "aria-label": "Samples in the flame graph" });
  private readonly query = el("input", { type: "search", placeholder: "Find functions", "aria-label": "Find functions" });
  private readonly found = el("span", { class: "dim", role: "status" });
  private chosen: Part = { words: "", covered: Covered.of(new Float64Array(0), new Float64Array(0)) };
  private part = this.chosen;
  private inside: Float64Array = new Float64Array(0);
  private drawn: Box[] = [];
  /** What the nodes of boxes are of. */
  private tree: { flame: Flame; inside: Float64Array };
  private root = -1;
  private printing = 0;
  private flame: Flame;
  private other: Flame | null = null;

  constructor(
    host: HTMLElement,
    flame: Flame,
    private readonly source: string,
    /** What may be shown beside what is chosen on the timeline. */
    private readonly models: Part[],
  ) {
    this.theme = themeOf([]);
    this.flame = flame;
    this.tree = { flame, inside: this.inside };
    this.turn.setAttribute("aria-pressed", "false");
    this.viewport.append(this.canvas);
    const titles = ["as on the timeline", ...models.map((model) => model.words)];
    this.choice.append(...titles.map((title, place) => el("option", { value: place }, title)));
    this.choice.addEventListener("change", () => this.count(this.models[Number(this.choice.value) - 1] ?? this.chosen));
    this.query.addEventListener("input", () => this.find());
    const choice = models.length ? el("span", { class: "group" }, "Range ", this.choice) : null;
    const tools = el("div", { class: "tools" }, choice, this.order, el("span", { class: "group" }, this.query, this.found), this.turn);
    host.replaceChildren(el(host.closest("section") ? "h3" : "h2", {}, "Flame graph"), tools, this.title, this.viewport, this.about);
    this.canvas.addEventListener("pointermove", (event) => this.describe(this.at(event)));
    this.canvas.addEventListener("pointerleave", () => this.describe(null));
    this.canvas.addEventListener("click", (event) => {
      const box = this.at(event);
      if (box && this.isSandwich) this.enter(this.flame.names.indexOf(this.tree.flame.names[box.node]));
      else if (box) this.enter(box.node);
    });
    this.describe(null);
    new ResizeObserver(() => this.draw()).observe(this.viewport);
  }

  /** Counts the samples of another part of time that was chosen on the timeline. */
  show(part: Part): void {
    const [{ covered: now }, { covered }] = [this.chosen, part];
    if (part.words === this.chosen.words && covered.starts[0] === now.starts[0] && covered.end(0) === now.end(0)) return;
    this.chosen = part;
    this.choice.value = "0";
    this.count(part);
  }

  private count(part: Part): void {
    this.part = part;
    this.inside = weights(this.flame, part.covered, part.library);
    this.enter(-1);
  }

  /** Begins with the innermost functions, or with the outermost ones again. */
  private invert(): void {
    [this.flame, this.other] = [this.other ?? inverted(this.flame), this.flame];
    this.turn.setAttribute("aria-pressed", String(this.turn.getAttribute("aria-pressed") === "false"));
    this.count(this.part);
  }

  private reorder(): void {
    if (this.isSandwich && this.other && this.turn.getAttribute("aria-pressed") === "true") this.invert();
    this.turn.disabled = this.isSandwich;
    this.enter(this.root);
  }

  recolor(): void {
    this.theme = themeOf([]);
    this.draw();
  }

  print(width: number): void {
    this.printing = width;
    this.recolor();
    this.describe(null);
  }

  /** Shows a function and what it called in the whole width; everything for -1. */
  private enter(node: number): void {
    this.root = node;
    const samples = this.total();
    const around = this.isSandwich ? ": callers above it, callees below" : "";
    const where = node < 0 ? (around && "; click a function to see its callers and callees") : ` in ${this.name(node)}${around}`;
    const what = [`${counted(samples, "sample")}${where}`, this.part.words].filter(Boolean).join(", ");
    this.title.replaceChildren(`${what} `);
    if (node >= 0) this.title.append(this.back);
    this.find();
  }

  private get sought(): string {
    return this.query.value.trim().toLowerCase();
  }

  /** Colors the functions that are searched for, and says how many samples are in them. */
  private find(): void {
    const samples = this.sought ? samplesIn(this.flame, this.inside, this.sought) : 0;
    this.found.textContent = this.sought ? `${counted(samples, "sample")}, ${Math.round((samples / Math.max(this.whole(), 1)) * 100)}%` : "";
    this.draw();
  }

  private get isSandwich(): boolean {
    return this.order.value === "sandwich";
  }

  private total(): number {
    if (this.root >= 0 && this.isSandwich) return sandwich(this.flame, this.inside, this.flame.names[this.root]).inside[0] ?? 0;
    return this.root >= 0 ? this.inside[this.root] : this.whole();
  }

  private whole(): number {
    return this.inside.reduce((sum, samples, node) => (this.flame.parents[node] < 0 ? sum + samples : sum), 0);
  }

  private name(node: number): string {
    return this.flame.functions[this.flame.names[node]][0];
  }

  private draw(): void {
    const width = this.printing || this.viewport.clientWidth;
    if (!width) return;
    this.drawn = this.placed(width);
    const deepest = this.drawn.reduce((most, { level }) => Math.max(most, level + 1), 1);
    const levels = this.printing ? Math.min(deepest, PRINTED) : deepest;
    this.viewport.style.height = this.printing ? "auto" : `${Math.min(levels * ROW, TALLEST) + BORDERS}px`;
    sized(this.canvas, width, levels * ROW, this.printing > 0);
    this.canvas.setAttribute("aria-label", ["Flame graph of", this.part.words, this.source].filter(Boolean).join(" "));
    const drawing = context(this.canvas);
    drawing.font = FONT;
    drawing.textBaseline = "middle";
    drawing.clearRect(0, 0, width, levels * ROW);
    for (const box of this.drawn) this.box(drawing, box, width);
  }

  private placed(width: number): Box[] {
    const { flame, inside, root } = this;
    const { covered, library } = this.part;
    this.tree = { flame, inside };
    if (this.order.value === "time") return inOrderOfTime(flame, covered, library ?? "", root, 0.5 / width);
    if (root < 0 || !this.isSandwich) return boxes(flame, inside, root, 1 / width);
    const both = sandwich(flame, inside, flame.names[root]);
    this.tree = both;
    const above = boxes(both.flame, both.inside, both.callers, 1 / width);
    const middle = above.reduce((most, { level }) => Math.max(most, level), 0);
    const below = boxes(both.flame, both.inside, 0, 1 / width);
    return [...above.slice(1).map((box) => ({ ...box, level: middle - box.level })), ...below.map((box) => ({ ...box, level: middle + box.level }))];
  }

  private box(drawing: CanvasRenderingContext2D, { node, level, left, right }: Box, width: number): void {
    const { flame } = this.tree;
    const [name, , app] = flame.functions[flame.names[node]];
    const isOwn = app === 1;
    const [x, size] = [left * width, Math.max((right - left) * width - 1, 0.5)];
    const isFound = this.sought !== "" && holds(flame, node, this.sought);
    drawing.fillStyle = isFound ? this.theme.mark : isOwn ? this.theme.calls : this.theme.line;
    drawing.fillRect(x, level * ROW, size, ROW - 1);
    const line = flame.places[flame.lines[node]];
    const text = size > 30 ? fitted(drawing, line ? `${name}  ${line}` : name, size - 6) : "";
    drawing.fillStyle = isFound ? inkOn(this.theme.mark) : isOwn ? this.theme.callsInk : this.theme.text;
    if (text) drawing.fillText(text, x + 4, level * ROW + ROW / 2);
  }

  private at(event: MouseEvent): Box | null {
    const frame = this.canvas.getBoundingClientRect();
    const share = (event.clientX - frame.left) / frame.width;
    const level = Math.floor((event.clientY - frame.top) / ROW);
    return this.drawn.find((box) => box.level === level && box.left <= share && share < box.right) ?? null;
  }

  private describe(box: Box | null): void {
    if (!box) {
      const more = this.printing ? `The outermost ${PRINTED} levels.` : "Click one to see it alone.";
      this.about.textContent = `Blue: functions of the app. ${more}`;
      return;
    }
    const { flame, inside } = this.tree;
    const [name, library] = flame.functions[flame.names[box.node]];
    const place = flame.places[flame.lines[box.node]];
    const samples = inside[box.node];
    const share = Math.round((samples / Math.max(this.total(), 1)) * 100);
    this.about.textContent = `${name}${library ? ` [${library}]` : ""}${place ? ` (${place})` : ""}: ${count(samples)} samples, ${share}%`;
  }
}
