// The lanes on screen: those of the recording as they are, or Core ML's apart by event or by model.

import type { LaneHead, Rows } from "./columns";
import { arranged, type Row, stacked } from "./intervals";

export type Grouping = "lanes" | "events" | "models";

export interface Lane {
  title: string;
  section: string;
  /** Place of the lane of the recording that its rows come from. */
  source: number;
  rows: Row[];
}

/** Where each row of the recording stands on screen, by lane of the recording. */
export interface Places {
  /** Place among the lanes on screen. */
  lane: Int32Array[];
  /** Row in that lane. */
  row: Uint8Array[];
}

/** Rows of a lane: four tell nesting and a pile-up, and leave room for others (as in the terminal UI). */
export const DEPTH = 4;

const CORE_ML = new Set(["activity", "data", "compute", "other"]);

/** All lanes that have rows, from top to bottom, and where their rows stand. O(n). */
export function lanesOf(
  heads: readonly LaneHead[],
  all: readonly Rows[],
  texts: readonly string[],
  grouping: Grouping,
): { lanes: Lane[]; places: Places } {
  const places: Places = {
    lane: all.map((rows) => new Int32Array(rows.starts.length)),
    row: all.map((rows) => new Uint8Array(rows.starts.length)),
  };
  const chosen: { title: string; section: string; source: number; positions: Int32Array; limit: number }[] = [];
  heads.forEach((head, source) => {
    const rows = all[source];
    if (!head.count) return;
    if (grouping === "lanes" || !CORE_ML.has(head.id)) {
      const limit = head.strip ? 1 : DEPTH;
      chosen.push({ title: head.title, section: head.section, source, positions: everything(head.count), limit });
      return;
    }
    const codes = grouping === "events" ? rows.labels : rows.models;
    for (const [code, positions] of grouped(codes)) {
      const none = grouping === "events" ? "unnamed event" : "unattributed";
      const name = code < 0 ? none : texts[code];
      const [title, section] = grouping === "events" ? [name, head.title] : [head.title, name];
      chosen.push({ title, section, source, positions, limit: DEPTH });
    }
  });
  // The lanes of one model stand together, in the order in which the models first occur.
  const order = new Map<string, number>();
  for (const lane of chosen) if (!order.has(lane.section)) order.set(lane.section, order.size);
  chosen.sort((a, b) => order.get(a.section)! - order.get(b.section)!);
  const lanes = chosen.map(({ title, section, source, positions, limit }, number) => {
    const taken = stacked(all[source], positions, limit);
    for (let i = 0; i < positions.length; i++) {
      places.lane[source][positions[i]] = number;
      places.row[source][positions[i]] = taken[i];
    }
    return { title, section, source, rows: arranged(all[source], positions, taken) };
  });
  return { lanes, places };
}

function everything(count: number): Int32Array {
  const positions = new Int32Array(count);
  for (let i = 0; i < count; i++) positions[i] = i;
  return positions;
}

/** Positions by code, in the order of their first appearance. */
export function grouped(codes: Int32Array): Map<number, Int32Array> {
  const sizes = new Map<number, number>();
  for (const code of codes) sizes.set(code, (sizes.get(code) ?? 0) + 1);
  const groups = new Map<number, Int32Array>();
  for (const [code, size] of sizes) groups.set(code, new Int32Array(size));
  const filled = new Map<number, number>();
  for (let i = 0; i < codes.length; i++) {
    const at = filled.get(codes[i]) ?? 0;
    groups.get(codes[i])![at] = i;
    filled.set(codes[i], at + 1);
  }
  return groups;
}
