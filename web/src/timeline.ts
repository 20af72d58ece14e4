// The timeline: puts its parts together, and moves, selects and marks what they show.

import { context, sized } from "./canvas";
import type { Accounts, Finding, Meta, Rows } from "./columns";
import { button, el } from "./dom";
import { Evidence } from "./evidence";
import type { Part } from "./flame";
import { parsed, type Place, written } from "./fragment";
import { listen } from "./gestures";
import { Covered } from "./intervals";
import { help, press } from "./keys";
import type { Grouping } from "./lanes";
import { layoutOf, RULER, stripOf, topOf } from "./layout";
import { Density, followBrush, HEIGHT, paintOverview } from "./overview";
import { paint } from "./painter";
import { describeFinding, describeNothing, describeRange, describeRow, describeView } from "./panel";
import { rowUnder, stripUnder, timeAtX, tipAt, titleUnder } from "./picking";
import { covering, group, keyOf, predictionOf, type Scene, sceneOf, slowOf, type Strip, timesOf } from "./scene";
import { type Match, search } from "./search";
import { nextLane, nextMatch, nextRow } from "./stepping";
import { themeOf } from "./theme";
import { Toolbar } from "./toolbar";
import { counted, moment } from "./units";
import { around, panned, type View, within, zoomed } from "./view";

const TALLEST = 620;
const NARROW = 620;
/** Pixels of titles at the left; on a phone just enough for the longest one. */
const GUTTER = 168;
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
  /** What is read first, and what is asked for: beside the lanes in its place, or from the bottom of a phone. */
  private readonly home = el("aside", { class: "panel home", tabindex: 0 });
  private readonly panel = el("aside", { class: "panel", "aria-live": "polite", tabindex: 0, hidden: true });
  private readonly toolbar: Toolbar;
  /** What the panel shows: the selected event or the marked finding, the range, all in view, or keys. */
  private shows: "event" | "range" | "view" | "keys" = "event";
  /** The time at the pointer; null while it is elsewhere. */
  private pointed: number | null = null;
  private evidence: Evidence | null = null;
  private twin: Timeline | null = null;
  private isPending = false;
  private printing = 0;
  private listTimer = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly meta: Meta,
    private readonly all: Rows[],
    private readonly findings: Finding[],
    accounts: Accounts | null,
    /** Told which times a reader looks at: a range, else the evidence of a finding, else all. */
    private readonly chosen: (part: Part) => void,
  ) {
    this.bounds = { start: meta.start, end: meta.end };
    this.scene = sceneOf(meta, all, findings, accounts, this.bounds);
    // States are always on and say nothing of what goes on, unless they are all there is.
    const work = all.filter((_, lane) => !meta.lanes[lane].strip);
    this.density = new Density(work.some(({ starts }) => starts.length) ? work : all, this.bounds);
    this.toolbar = new Toolbar(findings, meta.origin === undefined ? "Whole recording" : "Both recordings", {
      zoom: (factor) => this.zoom(factor, this.pointed ?? undefined),
      pan: (share) => this.show(panned(this.scene.view, this.bounds, share)),
      whole: () => this.show(this.bounds),
      fit: () => this.fit(this.scene.selected),
      statistics: () => this.setRange(this.scene.selected ? timesOf(this.scene, this.scene.selected) : this.scene.view, true),
      evidence: (by) => this.stepEvidence(by),
      search: () => this.toolbar.query.focus(),
      step: (by) => this.go(nextRow(this.scene, by)),
      lane: (by) => this.go(nextLane(this.scene, by)),
      prediction: () => this.go(this.scene.selected && predictionOf(this.scene, this.scene.selected)),
      pin: () => this.scene.selected && this.pin(this.scene.places.lane[this.scene.selected.lane][this.scene.selected.row]),
      listed: () => this.turn("view"),
      help: () => this.turn("keys"),
      link: meta.origin === undefined ? () => this.address() : null,
      clear: () => this.clear(),
      group: (grouping) => this.group(grouping),
      mark: (id) => this.mark(id, true),
      find: (query) => this.find(query),
      match: (by) => this.go(nextMatch(this.scene, by)),
    });
    this.viewport.append(this.canvas, this.spacer);
    this.home.setAttribute("aria-label", `Findings in ${meta.source}`);
    this.panel.setAttribute("aria-label", `Details of ${meta.source}`);
    this.home.append(describeNothing(this.scene, (id) => this.mark(id, true), (match) => this.go(match)));
    const stage = el("div", { class: "stage" }, this.viewport, this.tip);
    const drawing = el("div", { class: "drawing" }, this.overview, stage, this.legend());
    this.host.replaceChildren(this.toolbar.element, this.home, drawing, this.panel);
    this.describe();
    this.arrange();
    this.follow();
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
      zoom: (factor, x) => this.zoom(factor, timeAtX(this.scene, x)),
      pan: (pixels) => this.show(panned(this.scene.view, this.bounds, pixels / (this.scene.width - this.scene.gutter))),
      mark: (from, to, done) => this.drag(from, to, done),
      select: (x, y) => this.click(x, y),
      fit: (x, y) => this.fit(rowUnder(this.scene, x, y)),
      hover: (x, y, inside) => this.hover(x, y, inside),
      marks: (y) => y < RULER,
    });
    followBrush(this.overview, this.scene, this.bounds, (view) => this.show(view));
    this.viewport.addEventListener("scroll", () => {
      this.scene.scroll = this.viewport.scrollTop;
      this.draw();
    });
    this.canvas.addEventListener("keydown", (event) => press(event, true, this.toolbar.moves));
    document.addEventListener("keydown", (event) => {
      const target = event.target as HTMLElement;
      // Of two recordings on a page, one answers, and the other follows it.
      if (!event.defaultPrevented && target !== this.canvas && !target.closest("input, select, textarea, button, a, summary, .scroll") && this.isSeen()) {
        press(event, false, this.toolbar.moves);
      }
    });
    new ResizeObserver(() => this.arrange()).observe(this.viewport);
    window.addEventListener("hashchange", () => this.goTo(location.hash));
    const slow = this.host.hasAttribute("data-marked") && this.findings.find((finding) => finding.slow);
    if (slow && !location.hash) {
      this.mark(slow.id, true);
      // On a phone, details would cover what the page begins with.
      if (this.isCovering()) {
        this.close();
        scrollTo(0, 0);
      }
    } else this.goTo(location.hash);
  }

  private isSeen(): boolean {
    const box = this.viewport.getBoundingClientRect();
    return box.bottom > 80 && box.top < innerHeight - 80;
  }

  // ---- drawing

  /** Lays the lanes out again, after they or the width have changed. */
  private arrange(): void {
    const { lanes, calls, strips, pinned } = this.scene;
    const width = this.printing || this.viewport.clientWidth;
    const gutter = width < NARROW ? NARROW_GUTTER : GUTTER;
    const talls = strips.map(({ title }) => stripOf(title, gutter));
    const { lines, height } = layoutOf(lanes, calls.starts.length > 0, talls, (lane) => pinned.has(keyOf(lane)));
    const tall = Math.min(height + RULER, TALLEST);
    this.viewport.style.height = `${tall}px`;
    this.spacer.style.height = `${height + RULER - tall}px`;
    Object.assign(this.scene, { lines, width, height: tall, gutter, scroll: this.viewport.scrollTop });
    sized(this.canvas, width, tall, this.printing > 0);
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
    this.canvas.setAttribute("aria-label", `Lanes, ${what}. w and s zoom, a and d pan, arrow keys select events, ? lists all keys.`);
    this.overview.setAttribute("aria-label", `Events at once in the whole recording; in view: ${what}`);
    if (this.shows !== "view") return;
    clearTimeout(this.listTimer);
    this.listTimer = window.setTimeout(() => this.listView(), 200);
  }

  private listView(): void {
    if (this.shows === "view") this.panel.lastElementChild?.replaceWith(describeView(this.scene, this.scene.view));
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
    this.arrange();
  }

  // ---- moving

  show(view: View): void {
    this.move(view);
    if (!this.twin) return;
    const by = (this.twin.meta.origin ?? 0) - (this.meta.origin ?? 0);
    this.twin.move({ start: view.start + by, end: view.end + by });
  }

  private move(view: View): void {
    this.scene.view = within(view, this.bounds);
    this.tip.hidden = true;
    this.draw();
  }

  /** Two recordings show the same part of time from now on, seen from their origins, on the same scales. */
  pair(other: Timeline): void {
    [this.twin, other.twin] = [other, this];
    const [here, there] = [this.scene, other.scene];
    here.most = there.most = Math.max(here.most, there.most);
    here.longest = there.longest = Math.max(here.longest, there.longest);
    other.toolbar.element.remove();
    this.density.top = other.density.top = Math.max(this.density.top, other.density.top);
    this.draw();
    other.draw();
  }

  private zoom(factor: number, time = (this.scene.view.start + this.scene.view.end) / 2): void {
    this.show(zoomed(this.scene.view, this.bounds, factor, time));
  }

  private group(grouping: Grouping): void {
    for (const each of [this, this.twin]) {
      if (!each) continue;
      group(each.scene, grouping);
      each.viewport.scrollTop = 0;
      each.arrange();
    }
  }

  /** Keeps a lane at the top, or lets it go. */
  private pin(lane: number): void {
    const key = keyOf(this.scene.lanes[lane]);
    if (!this.scene.pinned.delete(key)) this.scene.pinned.add(key);
    this.arrange();
  }

  // ---- selecting

  /** Selects a row; of a slow prediction it marks what is behind that, too. */
  private click(x: number, y: number): void {
    const lane = titleUnder(this.scene, x, y);
    const strip = stripUnder(this.scene, y);
    if (lane !== null) this.pin(lane);
    else if (strip) this.clickStrip(strip, timeAtX(this.scene, Math.max(x, this.scene.gutter)));
    else this.choose(rowUnder(this.scene, x, y));
  }

  private choose(match: Match | null): void {
    this.select(match);
    const slow = match && slowOf(this.findings, match);
    if (slow) this.mark(slow.id, false);
  }

  /** Marks a finding, and goes to what is nearest of it. */
  private clickStrip({ findings }: Strip, time: number): void {
    const away = ({ slow }: Finding): number => (slow ? Math.abs(this.all[slow.lane].starts[slow.row] - time) : 0);
    const nearest = findings.reduce((best, each) => (away(each) < away(best) ? each : best));
    this.mark(nearest.id, false);
    if (nearest.slow) return this.fit(nearest.slow);
    this.evidence!.goTo(time);
    this.showEvidence();
  }

  private select(match: Match | null): void {
    this.scene.selected = match;
    if (match || this.shows !== "range") this.shows = "event";
    this.describe();
    this.remember();
    this.draw();
  }

  /** Selects a row and brings it into view; null does nothing. */
  private go(match: Match | null): void {
    if (!match) return;
    this.choose(match);
    this.reveal(match);
  }

  private reveal(match: Match): void {
    const { view, lines, scroll } = this.scene;
    const { start, end } = timesOf(this.scene, match);
    if (end < view.start || start > view.end) {
      const half = (view.end - view.start) / 2;
      this.show({ start: (start + end) / 2 - half, end: (start + end) / 2 + half });
    }
    const lane = this.scene.places.lane[match.lane][match.row];
    const line = lines.find((each) => each.kind === "lane" && each.lane === lane);
    if (!line || line.pinned) return;
    const room = this.scene.height - RULER;
    const top = topOf(line, scroll);
    if (top < 0 || top + line.height > room) this.viewport.scrollTop = Math.max(line.y - room / 3, 0);
  }

  private fit(match: Match | null): void {
    if (!match) return;
    this.select(match);
    this.show(around(timesOf(this.scene, match), this.bounds, 0.5));
    this.reveal(match);
  }

  private hover(x: number, y: number, isInside: boolean): void {
    const lines = isInside ? tipAt(this.scene, x, y) : [];
    this.pointed = isInside && x >= this.scene.gutter ? timeAtX(this.scene, x) : null;
    this.tip.hidden = !lines.length;
    if (!lines.length) return;
    this.tip.replaceChildren(...lines.map((line) => el("div", {}, line)));
    const left = Math.min(x + 12, this.scene.width - this.tip.offsetWidth - 4);
    this.tip.style.transform = `translate(${Math.max(left, 0)}px, ${y + 16}px)`;
  }

  private drag(from: number, to: number, done: boolean): void {
    const [a, b] = [from, to].map((x) => timeAtX(this.scene, Math.max(x, this.scene.gutter)));
    this.setRange(within({ start: Math.min(a, b), end: Math.max(a, b) }, this.bounds), done);
  }

  private setRange(range: View | null, done: boolean): void {
    this.scene.range = range && { start: range.start, end: Math.max(range.end, range.start + 1) };
    if (done) {
      this.shows = range ? "range" : "event";
      this.describe();
      this.remember();
    }
    this.draw();
  }

  /** Opens a part of the panel, or leaves it. */
  private turn(to: "view" | "keys"): void {
    this.shows = this.shows === to ? "event" : to;
    this.describe();
    if (!this.panel.hidden) this.panel.focus({ preventScroll: true });
  }

  private describe(): void {
    const { selected, range, finding } = this.scene;
    const actions = (...buttons: HTMLElement[]): HTMLElement => el("p", { class: "actions" }, ...buttons);
    const parts: HTMLElement[] = [];
    if (this.shows === "keys") parts.push(help());
    else if (this.shows === "view") parts.push(describeView(this.scene, this.scene.view));
    else if (this.shows === "range" && range) {
      const buttons = [button("Zoom to the range", () => this.show(range)), button("Clear the range", () => this.setRange(null, true))];
      parts.push(describeRange(this.scene, range), actions(...buttons));
    } else if (selected) {
      parts.push(
        describeRow(this.scene, selected, (match) => this.go(match)),
        actions(
          button("Zoom to it", () => this.fit(selected)),
          button("Statistics of its time", () => this.setRange(timesOf(this.scene, selected), true)),
          button("Clear", () => this.select(null)),
        ),
      );
    } else if (finding && !finding.slow) parts.push(describeFinding(finding));
    this.panel.hidden = !parts.length;
    this.host.classList.toggle("open", parts.length > 0);
    const close = el("button", { type: "button", class: "close", "aria-label": "Close (Esc)", title: "Close (Esc)", onclick: () => this.close() }, "\u00d7");
    this.panel.replaceChildren(close, ...parts);
    this.panel.scrollTop = 0;
    this.uncover();
    this.tell();
  }

  /** Back to the findings. */
  private close(): void {
    while (!this.panel.hidden) this.clear();
  }

  private isCovering(): boolean {
    return !this.panel.hidden && getComputedStyle(this.panel).position === "fixed";
  }

  /** Scrolls the selected row out from under details that rise from the bottom. */
  private uncover(): void {
    const { selected, lines, scroll, places } = this.scene;
    if (!selected || !this.isCovering()) return;
    const line = lines.find((each) => each.kind === "lane" && each.lane === places.lane[selected.lane][selected.row]);
    const bottom = this.canvas.getBoundingClientRect().top + RULER + (line ? topOf(line, scroll) + line.height : 0);
    const below = bottom - this.panel.getBoundingClientRect().top;
    if (below > 0) scrollBy(0, below + 8);
  }

  private tell(): void {
    const { range, finding } = this.scene;
    const only = ({ start, end }: View): Covered => Covered.of(Float64Array.of(start), Float64Array.of(end));
    if (range) this.chosen({ words: "the range", covered: only(range) });
    else if (finding?.slow) this.chosen({ words: `the prediction of ${finding.title}`, covered: only(timesOf(this.scene, finding.slow)) });
    else if (finding) this.chosen({ words: `the evidence of ${finding.id}`, covered: finding.covered });
    else this.chosen({ words: "the whole recording", covered: only(this.bounds) });
  }

  // ---- findings, search, address

  /** Marks all evidence of a finding and shows the interval that weighs most. */
  private mark(id: string, isShown: boolean): void {
    const finding = this.findings.find((each) => each.id === id) ?? null;
    if (finding) this.shows = "event";
    this.scene.finding = finding && covering(finding);
    this.evidence = finding?.total ? new Evidence(finding) : null;
    this.toolbar.marked(finding?.id ?? "", this.evidence?.words ?? "");
    if (isShown && finding?.slow) this.fit(finding.slow);
    else if (isShown && this.evidence) this.showEvidence();
    this.describe();
    this.remember();
    this.draw();
  }

  private stepEvidence(by: number): void {
    this.evidence?.step(by);
    this.showEvidence();
  }

  /** Shows an interval of evidence within its whole prediction; of a slow prediction all waits are in view already. */
  private showEvidence(): void {
    if (!this.evidence) return;
    const { finding, row } = this.evidence;
    if (row) this.select(row);
    if (!finding.slow) this.show(around(this.evidence.whole(this.scene), this.bounds, 0.3));
    if (row) this.reveal(row);
  }

  private find(query: string): void {
    const both = this.twin ? [this, this.twin] : [this];
    for (const each of both) {
      each.scene.matches = covering(search(each.all, each.meta.texts, query));
      each.draw();
    }
    const found = both.map(({ scene }) => counted(scene.matches.starts.length, "match"));
    this.toolbar.found(query.trim() ? found.join(" before, ") + (this.twin ? " after" : "") : "");
  }

  /** Does what the end of the address says. */
  private goTo(fragment: string): void {
    // An address does not say which of two recordings it means.
    if (this.meta.origin !== undefined) return;
    const { finding, range, event, view, find } = parsed(fragment);
    if (finding !== undefined) this.mark(finding, !(range || event || view));
    if (range) this.setRange(within(range, this.bounds), true);
    if (event && event.row < (this.all[event.lane]?.starts.length ?? 0)) this.go(event);
    if (view) this.show(view);
    else if (range) this.show(around(range, this.bounds, 1));
    if (find !== undefined) this.find((this.toolbar.query.value = find));
    if (finding !== undefined || range || event || view) this.host.closest("section")?.scrollIntoView();
  }

  /** Selects a row for another part of the page, and shows it. */
  visit(match: Match): void {
    this.choose(match);
    this.fit(match);
    this.host.closest("section")?.scrollIntoView();
  }

  private place(): Place {
    const { finding, range, selected } = this.scene;
    return { finding: finding?.id, range: range ?? undefined, event: selected ?? undefined };
  }

  private remember(): void {
    if (this.meta.origin === undefined) setAddress(written(this.place()));
  }

  /** The address of all that is shown, which the page has from now on too. */
  private address(): string {
    const { view } = this.scene;
    const isWhole = view.start <= this.bounds.start && view.end >= this.bounds.end;
    setAddress(written({ ...this.place(), view: isWhole ? undefined : view, find: this.toolbar.query.value.trim() || undefined }));
    return location.href;
  }

  private clear(): void {
    if (this.shows === "view" || this.shows === "keys") this.turn(this.shows);
    else if (this.shows === "range" && this.scene.range) this.setRange(null, true);
    else if (this.scene.selected) this.select(null);
    else if (this.scene.range) this.setRange(null, true);
    else this.mark("", false);
  }
}

/** An address of which only the end changes may be replaced in a file too; where a browser forbids it, nothing is lost. */
function setAddress(fragment: string): void {
  try {
    if (fragment !== location.hash) history.replaceState(null, "", fragment || location.pathname + location.search);
  } catch {
    return;
  }
}
