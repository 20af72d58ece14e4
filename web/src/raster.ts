// What to draw of a row: each interval where they are wide enough, else the exact busy share of each column.

import type { Rows } from "./columns";
import { type Row, visible } from "./intervals";
import { span, type View, xOf } from "./view";

/** An interval that is drawn by itself. */
export interface Bar {
  at: number;
  left: number;
  right: number;
}

/** The share of a column, 0 to 1, in which a category is on. */
export type Paint = (column: number, category: number, below: number, share: number) => void;

/** Least pixels for an interval on average: below it, columns say more than bars that cover one another. */
const WIDE = 3;

/** The intervals to draw one by one; null where they are too many, or overlap. O(bars + log n). */
export function bars(rows: Rows, row: Row, view: View, width: number): Bar[] | null {
  if (!row.disjoint) return null;
  const [from, to] = visible(rows, row, view.start, view.end);
  if ((to - from) * WIDE > width) return null;
  const drawn: Bar[] = [];
  for (let i = from; i < to; i++) {
    const at = row.positions[i];
    const left = Math.max(xOf(view, width, rows.starts[at]), -2);
    const right = Math.min(xOf(view, width, rows.ends[at]), width + 2);
    drawn.push({ at, left, right: Math.max(right, left + 1) });
  }
  return drawn;
}

/** The busy share of each column of one pixel, category by category, each on top of those before it. Exact at every
 * zoom. O(categories * columns * log n). */
export function columns(row: Row, view: View, width: number, paint: Paint): void {
  const below = new Float64Array(width);
  const each = span(view) / width;
  for (const part of row.parts) {
    let before = part.covered.until(view.start);
    for (let column = 0; column < width; column++) {
      const after = part.covered.until(view.start + (column + 1) * each);
      const share = Math.min((after - before) / each, 1 - below[column]);
      before = after;
      if (share <= 0) continue;
      paint(column, part.category, below[column], share);
      below[column] += share;
    }
  }
}
