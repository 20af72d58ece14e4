// Intervals in rows in which none overlap, and how much of any time they cover.

import type { Rows } from "./columns";

/** How many of the sorted values are below or at `value`. */
export function upperBound(values: ArrayLike<number>, value: number, low = 0, high = values.length): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same, where it is known to be `at` or more. O(log of how much more). */
export function upperFrom(values: ArrayLike<number>, value: number, at: number): number {
  let step = 1;
  for (; at + step <= values.length && values[at + step - 1] <= value; step *= 2) at += step;
  return upperBound(values, value, at, Math.min(at + step - 1, values.length));
}

/** Most columns of a cycle that is drawn by its mean, and how much longer than another one it may be. */
const CYCLE = 8;
const REGULAR = 1.5;

/** The whole cycles around a column, by the places of the starts at both ends, with one more on both sides, where they
 * are regular and about as short as the column; null elsewhere. Shares of single columns would beat with them: swells that
 * are not there. `begun`: how many start at its begin or before. O(cycles in it). */
export function cycles(starts: ArrayLike<number>, begun: number, from: number, to: number): [number, number] | null {
  const first = begun - 2;
  if (first < 0) return null;
  const most = CYCLE * (to - from);
  let [least, longest] = [Infinity, 0];
  for (let at = first; ; at++) {
    if (at + 1 >= starts.length) return null;
    const length = starts[at + 1] - starts[at];
    least = Math.min(least, length);
    longest = Math.max(longest, length);
    if (longest > most || longest > REGULAR * least) return null;
    // One cycle behind the first start at or after the end of the column.
    if (starts[at] >= to) return [first, at + 1];
  }
}

/** Whether so many starts are in view that single columns can beat with them: neither far apart nor many in each. O(log n). */
export function mayBeat(starts: ArrayLike<number>, start: number, end: number, width: number): boolean {
  const count = upperBound(starts, end) - upperBound(starts, start);
  return count > width / (2 * CYCLE) && count < 4 * width;
}

/** Pieces of time that do not overlap, and the time that is covered before each. */
export class Covered {
  private constructor(
    readonly starts: Float64Array,
    /** One value more than there are pieces: the last one is all covered time. */
    private readonly before: Float64Array,
  ) {}

  /** Of intervals that are sorted by start, or of those at some positions; an instant covers nothing. */
  static of(starts: Float64Array, ends: Float64Array, positions?: Int32Array): Covered {
    const most = positions ? positions.length : starts.length;
    const [from, before] = [new Float64Array(most), new Float64Array(most + 1)];
    let [size, end] = [0, 0];
    for (let i = 0; i < most; i++) {
      const at = positions ? positions[i] : i;
      if (!size || starts[at] > end) {
        from[size++] = starts[at];
        end = starts[at];
        before[size] = before[size - 1];
      }
      if (ends[at] > end) {
        before[size] += ends[at] - end;
        end = ends[at];
      }
    }
    return size < most ? new Covered(from.slice(0, size), before.slice(0, size + 1)) : new Covered(from, before);
  }

  end(piece: number): number {
    return this.starts[piece] + this.before[piece + 1] - this.before[piece];
  }

  /** The time that is covered before `time`, where it is known how many pieces have begun by then. O(log n), or O(1). */
  until(time: number, begun = upperBound(this.starts, time)): number {
    return begun ? Math.min(this.before[begun - 1] + time - this.starts[begun - 1], this.before[begun]) : 0;
  }

  /** The share of the time from the start of one piece to that of another that is covered. */
  share([from, to]: [number, number]): number {
    return (this.before[to] - this.before[from]) / (this.starts[to] - this.starts[from]);
  }
}

export interface Part { category: number; covered: Covered }

/** One row of a lane on screen. */
export interface Row {
  /** Rows of the recording, sorted by start. */
  positions: Int32Array;
  /** False only for the last row of a lane that has more than are shown: what does not fit is joined there. */
  disjoint: boolean;
  parts: Part[];
}

/** For each position the row on screen: the first one that is free; at most `limit`. An instant takes 1 ns. */
export function stacked(rows: Rows, positions: Int32Array, limit: number): Uint8Array {
  const taken = new Uint8Array(positions.length);
  const free = new Float64Array(limit).fill(-Infinity);
  for (let i = 0; i < positions.length; i++) {
    const start = rows.starts[positions[i]];
    let row = 0;
    while (row < limit - 1 && free[row] > start) row++;
    taken[i] = row;
    free[row] = Math.max(free[row], rows.ends[positions[i]], start + 1);
  }
  return taken;
}

/** The rows of a lane, from top to bottom. O(n). */
export function arranged(rows: Rows, positions: Int32Array, taken: Uint8Array): Row[] {
  const sizes: number[] = [];
  for (let i = 0; i < taken.length; i++) sizes[taken[i]] = (sizes[taken[i]] ?? 0) + 1;
  const members = sizes.map((size) => new Int32Array(size));
  const filled = sizes.map(() => 0);
  for (let i = 0; i < taken.length; i++) members[taken[i]][filled[taken[i]]++] = positions[i];
  return members.map((own) => ({ positions: own, disjoint: isDisjoint(rows, own), parts: parts(rows, own) }));
}

function isDisjoint(rows: Rows, positions: Int32Array): boolean {
  for (let i = 1; i < positions.length; i++) {
    if (rows.starts[positions[i]] < rows.ends[positions[i - 1]]) return false;
  }
  return true;
}

/** The time that each category covers, in the order of the categories. */
function parts(rows: Rows, positions: Int32Array): Part[] {
  const sizes = new Uint32Array(256);
  for (let i = 0; i < positions.length; i++) sizes[rows.categories[positions[i]]]++;
  const found: Part[] = [];
  for (let category = 0; category < sizes.length; category++) {
    if (!sizes[category]) continue;
    const own = sizes[category] < positions.length ? positions.filter((at) => rows.categories[at] === category) : positions;
    found.push({ category, covered: Covered.of(rows.starts, rows.ends, own) });
  }
  return found;
}

/** Indices into `row.positions` of what may be seen in `[start, end)`. O(log n) where nothing overlaps. */
export function visible(rows: Rows, row: Row, start: number, end: number): [number, number] {
  const { positions } = row;
  let high = bound(positions, rows.starts, end);
  if (!row.disjoint) return [0, high];
  let low = bound(positions, rows.starts, start);
  if (low && rows.ends[positions[low - 1]] > start) low--;
  if (high < low) high = low;
  return [low, high];
}

/** How many of the sorted rows start before a time, in whole ns. */
function bound(positions: Int32Array, starts: Float64Array, time: number): number {
  return upperBound(positions, upperBound(starts, Math.ceil(time) - 1) - 1);
}

/** The row of the recording that covers most of `[low, high)`, the earliest of equals; -1 for none. */
export function hit(rows: Rows, row: Row, low: number, high: number): number {
  const [from, to] = visible(rows, row, low, high);
  let best = -1;
  let most = 0;
  for (let i = from; i < to; i++) {
    const at = row.positions[i];
    const overlap = Math.min(Math.max(rows.ends[at], rows.starts[at] + 1), high) - Math.max(rows.starts[at], low);
    if (overlap > most) {
      most = overlap;
      best = at;
    }
  }
  return best;
}
