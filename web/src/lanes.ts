// The lanes on screen: those of the recording as they are, or Core ML's apart by event or by model.

import type { LaneHead, Rows } from "./columns";
import { arranged, type Row, stacked } from "./intervals";
import { bytes } from "./units";

export type Grouping = "lanes" | "events" | "models";

export interface Lane {
  title: string;
  section: string;
  /** Place of the lane of the recording that its rows come from. */
  source: number;
  rows: Row[];
  /** The most that a lane of levels or sizes reaches, which is drawn as an area; empty for others. */
  peak: string;
}

/** How high levels stand, by name of their category. */
export const LEVELS: Record<string, number> = { good: 0.25, fair: 0.5, serious: 0.75, critical: 1, low: 0.33, medium: 0.67, high: 1 };

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

type Categories = readonly (readonly [string, string])[];
type Drawn = { lanes: Lane[]; places: Places };

/** All lanes that have rows, from top to bottom, and where their rows stand. O(n). */
export function lanesOf(heads: readonly LaneHead[], all: readonly Rows[], texts: readonly string[], grouping: Grouping, categories: Categories = []): Drawn {
  const places: Places = {
    lane: all.map((rows) => new Int32Array(rows.starts.length)),
    row: all.map((rows) => new Uint8Array(rows.starts.length)),
  };
  const peakOf = (rows: Rows): string => {
    if (rows.sizes) return `maximum ${bytes(rows.sizes.most)}`;
    let highest = -1;
    const level = (at: number): number => LEVELS[categories[rows.categories[at]]?.[0]] ?? 0;
    for (let at = 0; at < rows.starts.length; at++) {
      if (!level(at)) return "";
      if (highest < 0 || level(at) > level(highest)) highest = at;
    }
    return `highest: ${texts[rows.labels[highest]] ?? "unnamed"}`;
  };
  const chosen: { title: string; section: string; source: number; positions: Int32Array; limit: number }[] = [];
  heads.forEach((head, source) => {
    const rows = all[source];
    if (!head.count) return;
    if (grouping === "lanes" || !CORE_ML.has(head.id)) {
      const limit = head.strip ? 1 : DEPTH;
      chosen.push({ title: head.title, section: head.section, source, positions: new Int32Array(head.count).map((_, i) => i), limit });
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
    return { title, section, source, rows: arranged(all[source], positions, taken), peak: heads[source].strip ? peakOf(all[source]) : "" };
  });
  return { lanes, places };
}

/** Positions by code, in the order of their first appearance. */
export function grouped(codes: Int32Array): Map<number, Int32Array> {
  const groups = new Map<number, number[]>();
  codes.forEach((code, i) => gather(groups, code, i));
  return new Map([...groups].map(([code, positions]) => [code, Int32Array.from(positions)]));
}

/** Adds a value to those of a key. */
export function gather<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
}
