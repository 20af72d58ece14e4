// The keys of the timeline: those of Perfetto where it has them.

import { el } from "./dom";

export interface Commands {
  zoom(factor: number): void;
  pan(share: number): void;
  whole(): void;
  fit(): void;
  statistics(): void;
  evidence(by: number): void;
  search(): void;
  step(by: number): void;
  lane(by: number): void;
  prediction(): void;
  pin(): void;
  help(): void;
  clear(): void;
}

interface Key {
  /** As `KeyboardEvent.key` names it. */
  key: string;
  run(commands: Commands): void;
  /** Whether it acts only while the lanes have the focus: elsewhere the page scrolls with it. */
  focused?: boolean;
}

/** What a line of the help says, and its keys. */
const LINES: [string, string, ...Key[]][] = [
  ["w s", "zoom in, zoom out; also Ctrl and wheel, pinch, double click", { key: "w", run: (c) => c.zoom(1 / 1.4) }, { key: "s", run: (c) => c.zoom(1.4) }],
  ["a d", "pan; also drag, Shift and wheel", { key: "a", run: (c) => c.pan(-0.2) }, { key: "d", run: (c) => c.pan(0.2) }],
  ["0", "whole recording", { key: "0", run: (c) => c.whole() }, { key: "Home", run: (c) => c.whole(), focused: true }],
  ["f", "zoom to the selected event", { key: "f", run: (c) => c.fit() }],
  ["v m", "statistics of the selected event's time, or of what is in view", { key: "v", run: (c) => c.statistics() }, { key: "m", run: (c) => c.statistics() }],
  [", .", "previous or next interval of evidence, or behind a slow prediction", { key: ",", run: (c) => c.evidence(-1) }, { key: ".", run: (c) => c.evidence(1) }],
  [
    "\u2190 \u2192 \u2191 \u2193",
    "previous or next event, lane above or below (after a click on the lanes)",
    { key: "ArrowLeft", run: (c) => c.step(-1), focused: true },
    { key: "ArrowRight", run: (c) => c.step(1), focused: true },
    { key: "ArrowUp", run: (c) => c.lane(-1), focused: true },
    { key: "ArrowDown", run: (c) => c.lane(1), focused: true },
  ],
  ["e", "the prediction that the selected event belongs to", { key: "e", run: (c) => c.prediction() }],
  ["p", "keep the lane of the selected event at the top, or let it go; also a click on its title", { key: "p", run: (c) => c.pin() }],
  ["/", "search", { key: "/", run: (c) => c.search() }],
  ["?", "this list", { key: "?", run: (c) => c.help() }],
  ["Esc", "clear", { key: "Escape", run: (c) => c.clear() }],
];

/** Does what a key says; keys with a modifier are the browser's. */
export function press(event: KeyboardEvent, hasFocus: boolean, commands: Commands): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const known = LINES.flatMap(([, , ...keys]) => keys).find(({ key, focused }) => key === event.key && (hasFocus || !focused));
  if (!known) return;
  event.preventDefault();
  event.stopPropagation();
  known.run(commands);
}

export function help(): HTMLDetailsElement {
  const lines = LINES.flatMap(([keys, what]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, what)]);
  return el("details", { class: "help" }, el("summary", {}, "Keys and mouse"), el("dl", { class: "keys" }, ...lines));
}
