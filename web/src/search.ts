// Rows whose event or model holds a text.

import type { Rows } from "./columns";

export interface Match {
  lane: number;
  row: number;
}

/** Matches of all lanes, sorted by start; letters of either case are alike. O(texts + n log n). */
export function search(all: readonly Rows[], texts: readonly string[], query: string): Match[] {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  const matching = new Uint8Array(texts.length);
  texts.forEach((text, code) => {
    if (text.toLowerCase().includes(wanted)) matching[code] = 1;
  });
  const found: Match[] = [];
  all.forEach((rows, lane) => {
    for (let row = 0; row < rows.starts.length; row++) {
      if (matching[rows.labels[row]] || matching[rows.models[row]]) found.push({ lane, row });
    }
  });
  return found.sort((a, b) => all[a.lane].starts[a.row] - all[b.lane].starts[b.row]);
}
