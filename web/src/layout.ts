// On which line of the drawing everything stands, in pixels from the top of all lanes.

import type { Lane } from "./lanes";

export const RULER = 26;
export const HEAD = 22;
export const ROW = 16;
/** A lane that is an area. */
export const TALL = 2 * ROW;
export const PAD = 6;
export const COUNTER = 36;
const STRIP = 18;

/** The height of a strip: of two lines where its title is longer than the pixels at its left, 7 a letter. */
export const stripOf = (title: string, room: number): number => (title.length * 7 > room ? STRIP + 12 : STRIP);

/** A pinned line stays at the top while the others scroll below it. */
export type Line = { y: number; height: number; pinned: boolean } & (
  | { kind: "head"; text: string }
  | { kind: "strip"; strip: number }
  | { kind: "counter"; counter: "flight" | "latency" }
  | { kind: "lane"; lane: number }
);

type Kind = Line extends infer L ? (L extends Line ? Omit<L, "y" | "height" | "pinned"> : never) : never;

/** Lines from top to bottom: pinned lanes, where findings are (strips of these heights), the strips of predictions where
 * there are any, lanes. */
export function layoutOf(
  lanes: readonly Lane[],
  hasCalls: boolean,
  strips: readonly number[] = [],
  isPinned: (lane: Lane) => boolean = () => false,
): { lines: Line[]; height: number } {
  const lines: Line[] = [];
  let y = 0;
  const add = (line: Kind, height: number, pinned = false): void => {
    lines.push({ ...line, y, height, pinned });
    y += height;
  };
  const lane = (number: number, pinned = false): void => add({ kind: "lane", lane: number }, (lanes[number].peak ? TALL : lanes[number].rows.length * ROW) + PAD, pinned);
  lanes.forEach((each, number) => isPinned(each) && lane(number, true));
  strips.forEach((tall, strip) => add({ kind: "strip", strip }, tall));
  if (hasCalls) {
    add({ kind: "counter", counter: "flight" }, COUNTER);
    add({ kind: "counter", counter: "latency" }, COUNTER);
  }
  let section = "";
  lanes.forEach((each, number) => {
    if (isPinned(each)) return;
    if (each.section !== section) add({ kind: "head", text: (section = each.section) }, HEAD);
    lane(number);
  });
  return { lines, height: y };
}

/** Where a line begins on screen, below the ruler. */
export function topOf(line: Line, scroll: number): number {
  return line.y - (line.pinned ? 0 : scroll);
}

/** The line at a height on screen; undefined where there is none. Pinned lines hide those below them. */
export function lineAt(lines: readonly Line[], y: number, scroll: number): Line | undefined {
  return lines.find((line) => y >= topOf(line, scroll) && y < topOf(line, scroll) + line.height);
}

/** The lane and its row at a height on screen; null where there is none. */
export function rowAt(lines: readonly Line[], lanes: readonly Lane[], y: number, scroll = 0): { lane: number; row: number } | null {
  const line = lineAt(lines, y, scroll);
  if (!line || line.kind !== "lane") return null;
  const row = Math.floor((y - topOf(line, scroll) - PAD / 2) / ROW);
  return { lane: line.lane, row: Math.min(Math.max(row, 0), lanes[line.lane].rows.length - 1) };
}
