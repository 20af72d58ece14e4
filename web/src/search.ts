// Rows whose event or model holds a text.

import { inOrder, type Marks, type Rows } from "./columns";

export interface Match {
  lane: number;
  row: number;
}

/** Matches of all lanes; letters of either case are alike. O(texts + n). */
export function search(all: readonly Rows[], texts: readonly string[], query: string): Marks {
  const wanted = query.trim().toLowerCase();
  // One place more than texts, for rows that have none.
  const isMatching = new Uint8Array(texts.length + 1);
  if (wanted) texts.forEach((text, code) => (isMatching[code + 1] = Number(text.toLowerCase().includes(wanted))));
  const matches = (rows: Rows, row: number): number => isMatching[rows.labels[row] + 1] | isMatching[rows.models[row] + 1];
  let size = 0;
  for (const rows of all) for (let row = 0; row < rows.starts.length; row++) size += matches(rows, row);
  const [starts, ends] = [new Float64Array(size), new Float64Array(size)];
  const [lanes, places] = [new Int32Array(size), new Int32Array(size)];
  let at = 0;
  all.forEach((rows, lane) => {
    for (let row = 0; row < rows.starts.length; row++) {
      if (!matches(rows, row)) continue;
      [starts[at], ends[at], lanes[at], places[at]] = [rows.starts[row], rows.ends[row], lane, row];
      at++;
    }
  });
  return inOrder({ starts, ends, lanes, rows: places });
}
