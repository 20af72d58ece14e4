// Rows whose event or model holds a text.

import { inOrder, type Marks, type Rows } from "./columns";

export interface Match { lane: number; row: number }

/** Matches of all lanes; letters of either case are alike. O(texts + n). */
export function search(all: readonly Rows[], texts: readonly string[], query: string): Marks {
  const wanted = query.trim().toLowerCase();
  // One place more than texts, for rows that have none.
  const isMatching = new Uint8Array(texts.length + 1);
  if (wanted) texts.forEach((text, code) => (isMatching[code + 1] = Number(text.toLowerCase().includes(wanted))));
  const matches = (rows: Rows, row: number): number => isMatching[rows.labels[row] + 1] | isMatching[rows.models[row] + 1];
  const [lanes, places]: [number[], number[]] = [[], []];
  all.forEach((rows, lane) => {
    for (let row = 0; row < rows.starts.length; row++) {
      if (!matches(rows, row)) continue;
      lanes.push(lane);
      places.push(row);
    }
  });
  const times = (of: "starts" | "ends"): Float64Array => Float64Array.from(places, (row, i) => all[lanes[i]][of][row]);
  return inOrder({ starts: times("starts"), ends: times("ends"), lanes: Int32Array.from(lanes), rows: Int32Array.from(places) });
}
