// Statistics of the rows that start in a range, with the rules of the report (tracekit/analysis/statistics.py).

import type { LaneHead, Rows } from "./columns";
import { upperBound } from "./intervals";
import { gather } from "./lanes";
import type { View } from "./view";

export type Line = ReturnType<typeof line>;

/** More than a page has texts. */
const TEXTS = 2 ** 26;
/** Fewest values for the 95th percentile. */
const P95_MINIMUM = 20;

/** One line for each lane, event and model with rows that start in the range, the largest sum first. O(n log n). */
export function inRange(heads: readonly LaneHead[], all: readonly Rows[], range: View): Line[] {
  const lines: Line[] = [];
  heads.forEach((head, place) => {
    const rows = all[place];
    const low = upperBound(rows.starts, range.start - 0.5);
    const high = upperBound(rows.starts, range.end - 0.5);
    const groups = new Map<number, number[]>();
    for (let i = low; i < high; i++) gather(groups, rows.labels[i] * TEXTS + rows.models[i], i);
    for (const group of groups.values()) lines.push(line(head, rows, group));
  });
  return lines.sort((a, b) => b.sum - a.sum);
}

function line(head: LaneHead, rows: Rows, group: number[]) {
  const durations = Float64Array.from(group, (i) => rows.ends[i] - rows.starts[i]).sort();
  const sum = durations.reduce((total, value) => total + value, 0);
  return {
    lane: head.title,
    label: rows.labels[group[0]],
    model: rows.models[group[0]],
    count: durations.length,
    sum,
    mean: sum / durations.length,
    p50: quantile(durations, 0.5),
    /** null: too few values. */
    p95: durations.length < P95_MINIMUM ? null : quantile(durations, 0.95),
    max: durations[durations.length - 1],
  };
}

/** A quantile of sorted values, with a straight line between neighbors. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}
