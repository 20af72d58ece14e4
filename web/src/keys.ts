// The keys of the timeline: those of Perfetto where it has them.

import { el } from "./dom";

type Name = "zoom" | "pan" | "whole" | "fit" | "statistics" | "evidence" | "search" | "step" | "lane" | "prediction" | "pin" | "listed" | "help" | "clear";

/** What keys do, most of them by some steps, a factor or a share. */
export type Commands = Record<Name, (by: number) => void>;

/** As `KeyboardEvent.key` names it, what it does, and by how much. */
type Key = [string, Name, number?];

/** What a line of the help says, and its keys. */
const LINES: [string, string, ...Key[]][] = [
  ["w s", "zoom in, zoom out, at the pointer; also Ctrl and wheel, pinch, double click", ["w", "zoom", 1 / 1.4], ["s", "zoom", 1.4]],
  ["a d", "pan; also drag, Shift and wheel", ["a", "pan", -0.2], ["d", "pan", 0.2]],
  ["0", "whole recording", ["0", "whole"], ["Home", "whole"]],
  ["f", "zoom to the selected event", ["f", "fit"]],
  ["v m", "statistics of the selected event's time, or of what is in view", ["v", "statistics"], ["m", "statistics"]],
  [", .", "previous or next interval of evidence, or behind a slow prediction", [",", "evidence", -1], [".", "evidence", 1]],
  [
    "\u2190 \u2192 \u2191 \u2193",
    "previous or next event, lane above or below (after a click on the lanes)",
    ...([["ArrowLeft", "step", -1], ["ArrowRight", "step", 1], ["ArrowUp", "lane", -1], ["ArrowDown", "lane", 1]] as Key[]),
  ],
  ["e", "the prediction that the selected event belongs to", ["e", "prediction"]],
  ["p", "keep the lane of the selected event at the top, or let it go; also a click on its title", ["p", "pin"]],
  ["t", "events in view as a table", ["t", "listed"]],
  ["/", "search", ["/", "search"]],
  ["?", "this list", ["?", "help"]],
  ["Esc", "clear", ["Escape", "clear"]],
];

/** Keys that act only while the lanes have the focus: elsewhere the page scrolls with them. */
const SCROLLING = /^(Home|Arrow.*)$/;

/** Does what a key says; keys with a modifier are the browser's. */
export function press(event: KeyboardEvent, hasFocus: boolean, commands: Commands): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const known = LINES.flatMap(([, , ...keys]) => keys).find(([key]) => key === event.key);
  if (!known || (SCROLLING.test(event.key) && !hasFocus)) return;
  event.preventDefault();
  event.stopPropagation();
  const [, name, by = 0] = known;
  commands[name](by);
}

export function help(): HTMLElement {
  const lines = LINES.flatMap(([keys, what]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, what)]);
  return el("div", {}, el("h3", {}, "Keys and mouse"), el("dl", { class: "keys" }, ...lines));
}
