// Which row comes next: on a lane, on the lane beside it, among matches.

import { upperBound } from "./intervals";
import type { Scene } from "./scene";
import type { Match } from "./search";

/** The next or previous row of the lane of the selected one, or the first in view. */
export function nextRow({ selected, all, lanes, view }: Scene, by: number): Match | null {
  if (selected) {
    const row = selected.row + by;
    return row >= 0 && row < all[selected.lane].starts.length ? { lane: selected.lane, row } : null;
  }
  const lane = lanes[0]?.source;
  if (lane === undefined) return null;
  return { lane, row: Math.min(upperBound(all[lane].starts, view.start), all[lane].starts.length - 1) };
}

/** The row of the lane above or below that is on at the time of the selected one, or starts next. */
export function nextLane(scene: Scene, by: number): Match | null {
  const { selected, lanes, places, all } = scene;
  if (!selected) return nextRow(scene, 0);
  const next = lanes[places.lane[selected.lane][selected.row] + by];
  if (!next) return null;
  const time = all[selected.lane].starts[selected.row];
  const { positions } = next.rows[0];
  const before = positions.findLastIndex((position) => all[next.source].starts[position] <= time);
  return { lane: next.source, row: positions[Math.max(before, 0)] };
}

/** The next or previous match after what is selected, or after the beginning of what is in view. */
export function nextMatch({ matches, selected, all, view }: Scene, by: number): Match | null {
  const { starts, lanes, rows } = matches;
  if (!starts.length) return null;
  const time = selected ? all[selected.lane].starts[selected.row] : view.start;
  const at = selected ? rows.findIndex((row, i) => row === selected.row && lanes[i] === selected.lane) : -1;
  const next = at >= 0 ? at + by : by > 0 ? upperBound(starts, time - 1) : upperBound(starts, time - 1) - 1;
  const place = (next + starts.length) % starts.length;
  return { lane: lanes[place], row: rows[place] };
}
