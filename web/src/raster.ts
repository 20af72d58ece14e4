// What to draw of a row: each interval where they are wide enough, else the exact busy share of each column.

import type { Rows } from "./columns";
import { type Covered, cycles, mayBeat, type Row, upperBound, upperFrom, visible } from "./intervals";
import { span, timeAt, type View, xOf } from "./view";

/** An interval that is drawn by itself. */
export interface Bar { at: number; left: number; right: number }

/** Least pixels for an interval on average: below it, columns say more than bars that cover one another. */
const WIDE = 3;

/** Whether the intervals of a row are too many in view to be drawn one by one. O(log n). */
export function isDense(rows: Rows, row: Row, view: View, width: number): boolean {
  if (!row.disjoint) return false;
  const [from, to] = visible(rows, row, view.start, view.end);
  return (to - from) * WIDE > width;
}

/** Whether bars are hardly wider than the pixel that each of them has at least. */
export function isNarrow(drawn: readonly Bar[]): boolean {
  return drawn.reduce((sum, { left, right }) => sum + right - left, 0) < 2 * drawn.length;
}

/** The intervals to draw one by one; null where they are too many, or overlap. O(bars + log n). */
export function bars(rows: Rows, row: Row, view: View, width: number): Bar[] | null {
  if (!row.disjoint || isDense(rows, row, view, width)) return null;
  const [from, to] = visible(rows, row, view.start, view.end);
  const drawn: Bar[] = [];
  for (let i = from; i < to; i++) {
    const at = row.positions[i];
    const left = Math.max(xOf(view, width, rows.starts[at]), -2);
    const right = Math.min(xOf(view, width, rows.ends[at]), width + 2);
    drawn.push({ at, left, right: Math.max(right, left + 1) });
  }
  return drawn;
}

/** Where covered time lies, as pixels from and to; two at least, and one band of what is on neighboring ones.
 * O(pixels log n). */
export function bands(covered: Covered, view: View, width: number): [number, number][] {
  const { starts } = covered;
  const found: [number, number][] = [];
  let at = Math.max(upperBound(starts, view.start) - 1, 0);
  while (at < starts.length && starts[at] <= view.end) {
    const left = Math.max(xOf(view, width, starts[at]), -4);
    let [right, last] = [left, at];
    do {
      at = last;
      right = Math.min(Math.max(xOf(view, width, covered.end(at)), xOf(view, width, starts[at]) + 2), width + 4);
      last = upperBound(starts, timeAt(view, width, right + 1), at) - 1;
    } while (last > at);
    if (right > left) found.push([left, right]);
    at++;
  }
  return found;
}

let shares = new Float64Array(0);

/** The busy share of each column of one pixel, part by part: shape (parts, columns), at most 1 together. Exact at every
 * zoom; of a regular pattern about as fine as a pixel, that of whole cycles. The array is used again by the next call. O(parts * columns * log n). */
export function columns(row: Row, view: View, width: number): Float64Array {
  const size = row.parts.length * width;
  if (shares.length < size) shares = new Float64Array(size);
  const each = span(view) / width;
  const room = new Float64Array(width).fill(1);
  row.parts.forEach(({ covered }, part) => {
    let begun = upperBound(covered.starts, view.start);
    let before = covered.until(view.start, begun);
    const isRegular = mayBeat(covered.starts, view.start, view.end, width);
    for (let column = 0; column < width; column++) {
      const end = view.start + (column + 1) * each;
      const around = isRegular ? cycles(covered.starts, begun, end - each, end) : null;
      begun = upperFrom(covered.starts, end, begun);
      const after = covered.until(end, begun);
      const share = Math.max(Math.min(around ? covered.share(around) : (after - before) / each, room[column]), 0);
      shares[part * width + column] = share;
      room[column] -= share;
      before = after;
    }
  });
  return shares;
}
