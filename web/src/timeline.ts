// The timeline: its state, its controls, and what each of them does.

import { byLength, type Finding, type Meta, type Rows } from "./columns";
import { callsOf, inFlight } from "./counters";
import { context, sized } from "./canvas";
import { button, el } from "./dom";
import { parsed, written } from "./fragment";
import { listen } from "./gestures";
import { Covered, hit, upperBound } from "./intervals";
import { type Grouping, lanesOf } from "./lanes";
import { layoutOf, rowAt, RULER } from "./layout";
import { brushed, Density, HEIGHT, paintOverview } from "./overview";
import { covering, labelOf, paint, type Scene } from "./painter";
import { describeRange, describeRow, describeView, inferredFacts } from "./panel";
import { type Match, search } from "./search";
import type { Part } from "./flame";
import { themeOf } from "./theme";
import { count, counted, duration, moment } from "./units";
import { around, panned, timeAt, type View, within, xOf, zoomed } from "./view";

const TALLEST = 620;
const NARROW = 620;
/** Pixels of titles at the left; on a phone just enough for the longest one. */
const GUTTER = 150;
const NARROW_GUTTER = 104;

export class Timeline {
  private readonly bounds: View;
  private readonly scene: Scene;
  private readonly density: Density;
  private readonly canvas = el("canvas", { class: "lanes", tabindex: 0, role: "application" });
  private readonly overview = el("canvas", { class: "overview", role: "img" });
  private readonly viewport = el("div", { class: "viewport" });
  private readonly spacer = el("div");
  private readonly tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  private readonly panel = el("div", { class: "panel", "aria-live": "polite" });
  private readonly matches = el("span", { class: "dim", role: "status" });
  private readonly stepper = el("span", { class: "stepper" });
  private readonly query = el("input", { type: "search", placeholder: "Search events", "aria-label": "Search events" });
  private readonly finding = el("select", { "aria-label": "Mark the evidence of a finding" });
  private readonly inView = el("details", { class: "in-view" }, el("summary", {}, "Events in view as a table"));
  private grouping: Grouping = "lanes";
  private order: ArrayLike<number> = [];
  private evidenceAt = 0;
  private isPending = false;
  private printing = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly meta: Meta,
    private readonly all: Rows[],
    private readonly findings: Finding[],
    /** Told which times a reader looks at: a range, else the evidence of a finding, else all. */
    private readonly chosen: (part: Part) => void,
  ) {
    this.bounds = { start: meta.start, end: meta.end };
    // States are always on and say nothing of what goes on, unless they are all there is.
    const work = all.filter((_, lane) => !meta.lanes[lane].strip);
    this.density = new Density(work.some(({ starts }) => starts.length) ? work : all, this.bounds);
    const calls = callsOf(all[meta.lanes.findIndex((lane) => lane.id === "activity")]);
    let longest = 1;
    for (let i = 0; i < calls.starts.length; i++) longest = Math.max(longest, calls.ends[i] - calls.starts[i]);
    this.scene = {
      meta,
      all,
      findings,
      ...lanesOf(meta.lanes, all, meta.texts, "lanes"),
      calls,
      flight: inFlight(calls),
      longest,
      lines: [],
      view: this.bounds,
      selected: null,
      range: null,
      finding: null,
      matches: covering(search([], [], "")),
      theme: themeOf(meta.categories.map(([name]) => name)),
      gutter: GUTTER,
      width: 0,
      height: 0,
      scroll: 0,
    };
    this.build();
    this.follow();
  }

  // ---- building

  private build(): void {
    const groupings: [Grouping, string][] = [
      ["lanes", "Grouped"],
      ["events", "By event"],
      ["models", "By model"],
    ];
    const grouping = el(
      "select",
      { "aria-label": "Lanes", onchange: () => this.group(grouping.value as Grouping) },
      ...groupings.map(([value, title]) => el("option", { value }, title)),
    );
    this.finding.append(
      el("option", { value: "" }, this.findings.length ? "Mark \u2026" : "No evidence"),
      ...this.findings.filter(({ slow }) => !slow).map((finding) => el("option", { value: finding.id }, finding.id)),
    );
    const slow = this.findings.filter((finding) => finding.slow);
    if (slow.length) this.finding.append(el("optgroup", { label: "Why was it slow?" }, ...slow.map(({ id, title }) => el("option", { value: id }, title))));
    this.finding.disabled = !this.findings.length;
    this.finding.addEventListener("change", () => this.mark(this.finding.value, true));
    this.query.addEventListener("input", () => this.find(this.query.value));
    this.query.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.stepMatch(event.shiftKey ? -1 : 1);
    });
    const tools = el(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "Timeline" },
      el("span", { class: "group" }, grouping),
      el(
        "span",
        { class: "group" },
        button("\u2212", () => this.zoom(1.6), "Zoom out (s)"),
        button("+", () => this.zoom(1 / 1.6), "Zoom in (w)"),
        button("\u2190", () => this.pan(-0.3), "Pan left (a)"),
        button("\u2192", () => this.pan(0.3), "Pan right (d)"),
        button(this.meta.origin === undefined ? "Whole recording" : "Both recordings", () => this.show(this.bounds)),
      ),
      el("span", { class: "group" }, this.finding, this.stepper),
      el(
        "span",
        { class: "group" },
        this.query,
        button("\u2191", () => this.stepMatch(-1), "Previous match"),
        button("\u2193", () => this.stepMatch(1), "Next match"),
        this.matches,
      ),
    );
    this.viewport.append(this.canvas, this.spacer);
    this.inView.addEventListener("toggle", () => this.listView());
    this.host.replaceChildren(
      tools,
      this.overview,
      el("div", { class: "stage" }, this.viewport, this.tip),
      this.legend(),
      this.panel,
      this.inView,
      help(),
    );
    this.describe();
    this.arrange();
  }

  /** What the colors on the lanes mean. */
  private legend(): HTMLElement {
    const used = new Set<number>();
    for (const lane of this.scene.lanes) for (const row of lane.rows) for (const part of row.parts) used.add(part.category);
    const entries = [...used].sort((a, b) => a - b).map((category) => {
      const [name, title] = this.meta.categories[category];
      const outlined = this.meta.outlined.includes(category) ? " outlined" : "";
      return el("li", {}, el("i", { class: `c-${name.replaceAll("_", "-")}${outlined}`, "aria-hidden": "true" }), title);
    });
    const strip = this.scene.calls.starts.length ? el("li", {}, "In flight: dark: average, light: maximum") : null;
    return el("ul", { class: "legend" }, ...entries, strip);
  }

  private follow(): void {
    listen(this.canvas, {
      zoom: (factor, x) => this.zoom(factor, this.timeAt(x)),
      pan: (pixels) => this.pan(pixels / this.drawnWidth),
      mark: (from, to, done) => this.drag(from, to, done),
      select: (x, y) => this.click(this.at(x, y)),
      fit: (x, y) => this.fit(this.at(x, y)),
      hover: (x, y, inside) => this.hover(x, y, inside),
      marks: (y) => y < RULER,
    });
    let last: number | null = null;
    const x = (event: PointerEvent): number =>
      event.clientX - this.overview.getBoundingClientRect().left - this.overview.clientLeft - this.scene.gutter;
    this.overview.addEventListener("pointerdown", (event) => {
      this.overview.setPointerCapture(event.pointerId);
      last = x(event);
      const { view } = this.scene;
      const isNew = !insideBrush(view, this.bounds, this.drawnWidth, last);
      if (isNew) this.brush = { from: last };
    });
    this.overview.addEventListener("pointermove", (event) => {
      if (last === null) return;
      const now = x(event);
      const width = this.drawnWidth;
      if (this.brush) this.show(brushed(this.bounds, this.bounds, width, this.brush.from, now));
      else this.show(brushed(this.scene.view, this.bounds, width, last, now));
      last = now;
    });
    const end = (): void => {
      last = null;
      this.brush = null;
    };
    this.overview.addEventListener("pointerup", end);
    this.overview.addEventListener("pointercancel", end);
    this.viewport.addEventListener("scroll", () => {
      this.scene.scroll = this.viewport.scrollTop;
      this.draw();
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event, true));
    document.addEventListener("keydown", (event) => {
      const target = event.target as HTMLElement;
      // Of two recordings on a page, one answers, and the other follows it.
      if (!event.defaultPrevented && target !== this.canvas && !target.closest("input, select, textarea, button, a, summary, .scroll") && this.isSeen()) {
        this.key(event, false);
      }
    });
    new ResizeObserver(() => this.resize()).observe(this.viewport);
    window.addEventListener("hashchange", () => this.goTo(location.hash));
    this.goTo(location.hash);
  }

  private brush: { from: number } | null = null;

  // ---- what is on screen

  private get drawnWidth(): number {
    return this.scene.width - this.scene.gutter;
  }

  private timeAt(x: number): number {
    return timeAt(this.scene.view, this.drawnWidth, x - this.scene.gutter);
  }

  private isSeen(): boolean {
    const box = this.viewport.getBoundingClientRect();
    return box.bottom > 80 && box.top < innerHeight - 80;
  }

  /** Lays the lanes out again, after they or the width have changed. */
  private arrange(): void {
    const { lines, height } = layoutOf(this.scene.lanes, this.scene.calls.starts.length > 0);
    this.scene.lines = lines;
    this.viewport.style.height = `${Math.min(height + RULER, TALLEST)}px`;
    this.resize();
    this.spacer.style.height = `${Math.max(height + RULER - this.viewport.clientHeight, 0)}px`;
  }

  private resize(): void {
    const width = this.printing || this.viewport.clientWidth;
    const height = this.viewport.clientHeight;
    this.scene.width = width;
    this.scene.height = height;
    this.scene.gutter = width < NARROW ? NARROW_GUTTER : GUTTER;
    this.scene.scroll = this.viewport.scrollTop;
    sized(this.canvas, width, height, this.printing > 0);
    sized(this.overview, width, HEIGHT, this.printing > 0);
    this.drawNow();
  }

  /** Draws once before the next frame, however often it is asked to. */
  private draw(): void {
    if (this.isPending) return;
    this.isPending = true;
    requestAnimationFrame(() => {
      this.isPending = false;
      this.drawNow();
    });
  }

  private drawNow(): void {
    if (!this.scene.width) return;
    paint(context(this.canvas), this.scene);
    paintOverview(context(this.overview), this.scene, this.density);
    const { start, end } = this.scene.view;
    const what = `${moment(start)} to ${moment(end)} of ${this.meta.source}`;
    this.canvas.setAttribute("aria-label", `Lanes, ${what}. w and s zoom, a and d pan, arrow keys select events.`);
    this.overview.setAttribute("aria-label", `Events at once in the whole recording; in view: ${what}`);
    if (this.inView.open) this.listSoon();
  }

  private listTimer = 0;

  private listSoon(): void {
    clearTimeout(this.listTimer);
    this.listTimer = window.setTimeout(() => this.listView(), 200);
  }

  private listView(): void {
    if (!this.inView.open) return;
    this.inView.replaceChildren(this.inView.firstElementChild!, describeView(this.scene, this.scene.view));
  }

  /** Colors have changed. */
  recolor(): void {
    this.scene.theme = themeOf(this.meta.categories.map(([name]) => name));
    this.drawNow();
  }

  /** Draws at the width of a sheet of paper, or, for 0, of the screen again. */
  print(width: number): void {
    this.printing = width;
    this.recolor();
    this.resize();
  }

  // ---- moving

  show(view: View): void {
    this.place(view);
    if (!this.twin) return;
    const by = (this.twin.meta.origin ?? 0) - (this.meta.origin ?? 0);
    this.twin.place({ start: view.start + by, end: view.end + by });
  }

  private place(view: View): void {
    this.scene.view = within(view, this.bounds);
    this.tip.hidden = true;
    this.draw();
  }

  private twin: Timeline | null = null;

  /** Two recordings show the same part of time from now on, seen from their origins. */
  pair(other: Timeline): void {
    this.twin = other;
    other.twin = this;
  }

  private zoom(factor: number, time = (this.scene.view.start + this.scene.view.end) / 2): void {
    this.show(zoomed(this.scene.view, this.bounds, factor, time));
  }

  private pan(share: number): void {
    this.show(panned(this.scene.view, this.bounds, share));
  }

  private group(grouping: Grouping): void {
    this.grouping = grouping;
    Object.assign(this.scene, lanesOf(this.meta.lanes, this.all, this.meta.texts, this.grouping));
    this.viewport.scrollTop = 0;
    this.arrange();
  }

  // ---- selecting

  private at(x: number, y: number): Match | null {
    const found = rowAt(this.scene.lines, this.scene.lanes, y - RULER + this.scene.scroll);
    if (!found || x < this.scene.gutter || y < RULER) return null;
    const lane = this.scene.lanes[found.lane];
    const row = hit(this.all[lane.source], lane.rows[found.row], this.timeAt(x - 1.5), this.timeAt(x + 1.5));
    return row < 0 ? null : { lane: lane.source, row };
  }

  /** Selects a row; of a slow prediction it marks what is behind that, too. */
  private click(match: Match | null): void {
    this.select(match);
    const slow = this.findings.find((each) => match && each.slow?.lane === match.lane && each.slow.row === match.row);
    if (slow) this.mark(slow.id, false);
  }

  private select(match: Match | null, isShown = false): void {
    this.scene.selected = match;
    if (match && isShown) this.reveal(match);
    this.describe();
    this.draw();
  }

  /** Brings a row into view. */
  private reveal(match: Match): void {
    const rows = this.all[match.lane];
    const { view } = this.scene;
    const [start, end] = [rows.starts[match.row], rows.ends[match.row]];
    if (end < view.start || start > view.end) {
      const half = (view.end - view.start) / 2;
      this.show({ start: (start + end) / 2 - half, end: (start + end) / 2 + half });
    }
    const lane = this.scene.places.lane[match.lane][match.row];
    const line = this.scene.lines.find((each) => each.kind === "lane" && each.lane === lane);
    if (!line) return;
    const room = this.viewport.clientHeight - RULER;
    if (line.y < this.scene.scroll || line.y + line.height > this.scene.scroll + room) {
      this.viewport.scrollTop = Math.max(line.y - room / 3, 0);
    }
  }

  private fit(match: Match | null): void {
    if (!match) return;
    const rows = this.all[match.lane];
    this.select(match);
    this.show(around({ start: rows.starts[match.row], end: rows.ends[match.row] }, this.bounds, 0.5));
  }

  private hover(x: number, y: number, isInside: boolean): void {
    const match = isInside ? this.at(x, y) : null;
    this.tip.hidden = !match;
    if (!match) return;
    const rows = this.all[match.lane];
    const length = duration(rows.ends[match.row] - rows.starts[match.row]);
    // The label says from what.
    const inferred = inferredFacts(rows, match.row).slice(1).map(([name, words]) => `${name} ${words}`);
    const words = `${labelOf(this.scene, rows, match.row)} \u00b7 ${length} at ${moment(rows.starts[match.row])}`;
    this.tip.textContent = [words, ...inferred].join(" \u00b7 ");
    const left = Math.min(x + 12, this.scene.width - this.tip.offsetWidth - 4);
    this.tip.style.transform = `translate(${Math.max(left, 0)}px, ${y + 16}px)`;
  }

  private drag(from: number, to: number, done: boolean): void {
    const [a, b] = [from, to].map((x) => this.timeAt(Math.max(x, this.scene.gutter)));
    this.setRange(within({ start: Math.min(a, b), end: Math.max(a, b) }, this.bounds), done);
  }

  private setRange(range: View | null, done: boolean): void {
    this.scene.range = range;
    if (done) {
      this.describe();
      this.remember();
    }
    this.draw();
  }

  private describe(): void {
    const { selected, range } = this.scene;
    const nothing = el(
      "p",
      { class: "dim" },
      matchMedia("(pointer: coarse)").matches
        ? "Tap an event for its details. Drag along the axis of time to get statistics of a range."
        : "Click an event for its details, a slow prediction for why it was slow. Drag along the axis of time, or drag with Shift, to get statistics of a range.",
    );
    const parts: HTMLElement[] = [];
    if (selected) {
      const entry = describeRow(this.scene, selected);
      entry.append(
        el(
          "p",
          { class: "actions" },
          button("Zoom to it", () => this.fit(selected)),
          button("Statistics of its time", () => this.rangeOf(selected)),
          button("Clear", () => this.select(null)),
        ),
      );
      parts.push(entry);
    }
    if (range) {
      const entry = describeRange(this.scene, range);
      entry.append(
        el(
          "p",
          { class: "actions" },
          button("Zoom to the range", () => this.show(range)),
          button("Clear the range", () => this.setRange(null, true)),
        ),
      );
      parts.push(entry);
    }
    this.panel.replaceChildren(...(parts.length ? parts : [nothing]));
    this.tell();
  }

  private tell(): void {
    const { range, finding } = this.scene;
    const only = ({ start, end }: View): Covered => Covered.of(Float64Array.of(start), Float64Array.of(end));
    if (range) this.chosen({ words: "the range", covered: only(range) });
    else if (finding?.slow) {
      const [{ starts, ends }, at] = [this.all[finding.slow.lane], finding.slow.row];
      this.chosen({ words: `the prediction of ${finding.title}`, covered: only({ start: starts[at], end: ends[at] }) });
    } else if (finding) this.chosen({ words: `the evidence of ${finding.id}`, covered: finding.covered });
    else this.chosen({ words: "the whole recording", covered: only(this.bounds) });
  }

  private rangeOf(match: Match): void {
    const rows = this.all[match.lane];
    this.setRange({ start: rows.starts[match.row], end: Math.max(rows.ends[match.row], rows.starts[match.row] + 1) }, true);
  }

  /** The next or previous row of the lane of the selected one, or the first in view. */
  private step(by: number): void {
    const { selected, view } = this.scene;
    if (selected) {
      const row = selected.row + by;
      if (row >= 0 && row < this.all[selected.lane].starts.length) this.select({ lane: selected.lane, row }, true);
      return;
    }
    const lane = this.scene.lanes[0]?.source;
    if (lane === undefined) return;
    const row = Math.min(upperBound(this.all[lane].starts, view.start), this.all[lane].starts.length - 1);
    this.select({ lane, row }, true);
  }

  /** The row of the lane above or below that is on at the time of the selected one, or starts next. */
  private stepLane(by: number): void {
    const { selected, lanes, places } = this.scene;
    if (!selected) {
      this.step(0);
      return;
    }
    const next = lanes[places.lane[selected.lane][selected.row] + by];
    if (!next) return;
    const rows = this.all[next.source];
    const time = this.all[selected.lane].starts[selected.row];
    const { positions } = next.rows[0];
    const before = positions.findLastIndex((position) => rows.starts[position] <= time);
    const best = positions[Math.max(before, 0)];
    this.select({ lane: next.source, row: best }, true);
  }

  // ---- findings, search, address

  /** Marks all evidence of a finding and shows the interval that weighs most. */
  private mark(id: string, isShown: boolean): void {
    const finding = this.findings.find((each) => each.id === id) ?? null;
    this.scene.finding = finding && covering(finding);
    this.finding.value = finding?.id ?? "";
    // Of evidence the interval that weighs most is shown at first; those behind a slow prediction are gone through in order.
    this.evidenceAt = finding?.slow ? -1 : 0;
    this.order = finding?.slow ? finding.starts.map((_, i) => i) : finding ? byLength(finding) : [];
    this.stepper.replaceChildren();
    if (finding?.slow && isShown) this.fit(finding.slow);
    if (finding?.total) {
      const words = finding.slow ? `behind it: ${counted(finding.total, "interval")}` :
        finding.starts.length < finding.total
          ? `the ${count(finding.starts.length)} that weigh most of ${counted(finding.total, "interval")}`
          : counted(finding.total, "interval");
      this.stepper.append(
        button("\u2190", () => this.stepEvidence(-1), "Previous interval of evidence (,)"),
        button("\u2192", () => this.stepEvidence(1), "Next interval of evidence (.)"),
        el("span", { class: "dim", role: "status" }, words),
      );
      if (isShown && !finding.slow) this.showEvidence(finding);
    }
    this.tell();
    this.remember();
    this.draw();
  }

  private stepEvidence(by: number): void {
    const { finding } = this.scene;
    if (!finding?.total) return;
    const from = Math.max(this.evidenceAt, by > 0 ? -1 : 0);
    this.evidenceAt = (from + by + this.order.length) % this.order.length;
    this.showEvidence(finding);
  }

  private showEvidence(finding: Finding): void {
    const at = this.order[this.evidenceAt];
    const [lane, row] = [finding.lanes[at], finding.rows[at]];
    if (lane >= 0) this.select({ lane, row });
    if (!finding.slow) this.show(around({ start: finding.starts[at], end: finding.ends[at] }, this.bounds, 4));
    if (lane >= 0) this.reveal({ lane, row });
  }

  private find(query: string): void {
    this.scene.matches = covering(search(this.all, this.meta.texts, query));
    this.matches.textContent = query.trim() ? counted(this.scene.matches.starts.length, "match") : "";
    this.draw();
  }

  private stepMatch(by: number): void {
    const { matches, selected, view } = this.scene;
    const { starts, lanes, rows } = matches;
    if (!starts.length) return;
    const time = selected ? this.all[selected.lane].starts[selected.row] : view.start;
    const at = selected ? rows.findIndex((row, i) => row === selected.row && lanes[i] === selected.lane) : -1;
    const next = at >= 0 ? at + by : by > 0 ? upperBound(starts, time - 1) : upperBound(starts, time - 1) - 1;
    const place = (next + starts.length) % starts.length;
    this.select({ lane: lanes[place], row: rows[place] }, true);
  }

  /** Does what the end of the address says. */
  private goTo(fragment: string): void {
    // An address does not say which of two recordings it means.
    if (this.meta.origin !== undefined) return;
    const place = parsed(fragment);
    if (place.finding !== undefined) this.mark(place.finding, !place.range);
    if (place.range) {
      this.setRange(within(place.range, this.bounds), true);
      this.show(around(place.range, this.bounds, 1));
    }
    if (place.finding !== undefined || place.range) this.host.closest("section")?.scrollIntoView();
  }

  private remember(): void {
    if (this.meta.origin !== undefined) return;
    const { finding, range } = this.scene;
    const fragment = written({ finding: finding?.id, range: range ?? undefined });
    // An address of which only the end changes may be replaced in a file too; where a browser forbids it, nothing is lost.
    try {
      if (fragment !== location.hash) history.replaceState(null, "", fragment || location.pathname + location.search);
    } catch {
      return;
    }
  }

  // ---- keys

  private key(event: KeyboardEvent, hasFocus: boolean): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const everywhere: Record<string, () => void> = {
      w: () => this.zoom(1 / 1.4),
      s: () => this.zoom(1.4),
      a: () => this.pan(-0.2),
      d: () => this.pan(0.2),
      "0": () => this.show(this.bounds),
      f: () => this.fit(this.scene.selected),
      v: () => (this.scene.selected ? this.rangeOf(this.scene.selected) : this.setRange(this.scene.view, true)),
      ".": () => this.stepEvidence(1),
      ",": () => this.stepEvidence(-1),
      "/": () => this.query.focus(),
      Escape: () => this.clear(),
    };
    const focused: Record<string, () => void> = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => this.stepLane(-1),
      ArrowDown: () => this.stepLane(1),
      Home: () => this.show(this.bounds),
      "+": () => this.zoom(1 / 1.4),
      "-": () => this.zoom(1.4),
    };
    const action = everywhere[event.key] ?? (hasFocus ? focused[event.key] : undefined);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  private clear(): void {
    if (this.scene.selected) this.select(null);
    else if (this.scene.range) this.setRange(null, true);
    else this.mark("", false);
  }
}

function insideBrush(view: View, bounds: View, width: number, x: number): boolean {
  const [left, right] = [xOf(bounds, width, view.start), xOf(bounds, width, view.end)];
  return right - left < width - 1 && x > left - 8 && x < right + 8;
}

function help(): HTMLElement {
  const keys: [string, string][] = [
    ["w s", "zoom in, zoom out; also Ctrl and wheel, pinch, double click"],
    ["a d", "pan; also drag, Shift and wheel"],
    ["0", "whole recording"],
    ["\u2190 \u2192 \u2191 \u2193", "previous or next event, lane above or below (after a click on the lanes)"],
    ["f", "zoom to the selected event"],
    ["v", "statistics of the selected event's time, or of what is in view"],
    [", .", "previous or next interval of evidence, or behind a slow prediction"],
    ["/", "search"],
    ["Esc", "clear"],
  ];
  return el(
    "details",
    { class: "help" },
    el("summary", {}, "Keys and mouse"),
    el("dl", { class: "keys" }, ...keys.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
  );
}
