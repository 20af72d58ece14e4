// On which line of the drawing everything stands, in pixels from the top of all lanes.

import type { Lane } from "./lanes";

export const RULER = 26;
export const HEAD = 22;
export const ROW = 16;
export const PAD = 6;
export const COUNTER = 36;

export type Line =
  | { kind: "head"; y: number; height: number; text: string }
  | { kind: "counter"; y: number; height: number; counter: "flight" | "latency" }
  | { kind: "lane"; y: number; height: number; lane: number };

/** Lines from top to bottom; the strips of predictions stand first where there are predictions. */
export function layoutOf(lanes: readonly Lane[], hasCalls: boolean): { lines: Line[]; height: number } {
  const lines: Line[] = [];
  let y = 0;
  const add = (line: Line): void => {
    lines.push(line);
    y += line.height;
  };
  if (hasCalls) {
    add({ kind: "counter", y, height: COUNTER, counter: "flight" });
    add({ kind: "counter", y, height: COUNTER, counter: "latency" });
  }
  lanes.forEach((lane, number) => {
    if (!number || lanes[number - 1].section !== lane.section) add({ kind: "head", y, height: HEAD, text: lane.section });
    add({ kind: "lane", y, height: lane.rows.length * ROW + PAD, lane: number });
  });
  return { lines, height: y };
}

/** The lane and its row at a height; null where there is none. */
export function rowAt(lines: readonly Line[], lanes: readonly Lane[], y: number): { lane: number; row: number } | null {
  const line = lines.find((each) => y >= each.y && y < each.y + each.height);
  if (!line || line.kind !== "lane") return null;
  const row = Math.floor((y - line.y - PAD / 2) / ROW);
  return { lane: line.lane, row: Math.min(Math.max(row, 0), lanes[line.lane].rows.length - 1) };
}
