// The controls above the lanes.

import { copyButton } from "./code";
import { button, el } from "./dom";
import type { Finding } from "./columns";
import type { Commands } from "./keys";
import type { Grouping } from "./lanes";

const GROUPINGS: [Grouping, string][] = [
  ["lanes", "Grouped"],
  ["events", "By event"],
  ["models", "By model"],
];

/** What the controls do beside what keys do. */
export interface Moves extends Commands {
  group(grouping: Grouping): void;
  mark(id: string): void;
  find(query: string): void;
  match(by: number): void;
  /** The address of what is shown; null where a page has no such. */
  link: (() => string) | null;
}

export class Toolbar {
  readonly element: HTMLElement;
  readonly query = el("input", { type: "search", placeholder: "Search events", "aria-label": "Search events" });
  private readonly finding = el("select", { "aria-label": "Mark the evidence of a finding" });
  private readonly stepper = el("span", { class: "stepper" });
  private readonly matches = el("span", { class: "dim", role: "status" });

  constructor(findings: readonly Finding[], whole: string, readonly moves: Moves) {
    const grouping = el(
      "select",
      { "aria-label": "Lanes", onchange: () => moves.group(grouping.value as Grouping) },
      ...GROUPINGS.map(([value, title]) => el("option", { value }, title)),
    );
    const options = (slow: boolean): HTMLElement[] =>
      findings.filter((each) => Boolean(each.slow) === slow).map(({ id, title }) => el("option", { value: id }, slow ? title : id));
    this.finding.append(el("option", { value: "" }, findings.length ? "Mark \u2026" : "No evidence"), ...options(false));
    if (options(true).length) this.finding.append(el("optgroup", { label: "Why was it slow?" }, ...options(true)));
    this.finding.disabled = !findings.length;
    this.finding.addEventListener("change", () => moves.mark(this.finding.value));
    this.query.addEventListener("input", () => moves.find(this.query.value));
    this.query.addEventListener("keydown", (event) => event.key === "Enter" && moves.match(event.shiftKey ? -1 : 1));
    const group = (...children: (HTMLElement | null)[]): HTMLElement => el("span", { class: "group" }, ...children);
    this.element = el(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "Timeline" },
      group(grouping),
      group(
        button("\u2212", () => moves.zoom(1.6), "Zoom out (s)"),
        button("+", () => moves.zoom(1 / 1.6), "Zoom in (w)"),
        button("\u2190", () => moves.pan(-0.3), "Pan left (a)"),
        button("\u2192", () => moves.pan(0.3), "Pan right (d)"),
        button(whole, () => moves.whole(0)),
      ),
      group(this.finding, this.stepper),
      group(
        this.query,
        button("\u2191", () => moves.match(-1), "Previous match"),
        button("\u2193", () => moves.match(1), "Next match"),
        this.matches,
      ),
      group(
        button("Events in view", () => moves.listed(0), "Events in view as a table (t)"),
        button("?", () => moves.help(0), "Keys and mouse (?)"),
        moves.link && copyButton(moves.link, "Copy link"),
      ),
    );
  }

  /** Shows which finding is marked, and the buttons that go through its evidence where there are `words` of it. */
  marked(id: string, words: string): void {
    this.finding.value = id;
    this.stepper.replaceChildren();
    if (!words) return;
    this.stepper.append(
      button("\u2190", () => this.moves.evidence(-1), "Previous interval of evidence (,)"),
      button("\u2192", () => this.moves.evidence(1), "Next interval of evidence (.)"),
      el("span", { class: "dim", role: "status" }, words),
    );
  }

  found(words: string): void {
    this.matches.textContent = words;
  }
}
