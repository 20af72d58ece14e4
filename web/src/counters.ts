// The strips above the lanes: predictions in flight and their latency.

import { CALL, type Rows } from "./columns";
import { cycles, mayBeat, upperBound, upperFrom } from "./intervals";
import { span, type View } from "./view";

/** Predictions that the app called, sorted by start. */
export interface Calls {
  starts: Float64Array;
  ends: Float64Array;
}

export function callsOf(rows: Rows | undefined): Calls {
  if (!rows) return { starts: new Float64Array(0), ends: new Float64Array(0) };
  const isCall = (_: number, i: number): boolean => (rows.flags[i] & CALL) > 0;
  return { starts: rows.starts.filter(isCall), ends: rows.ends.filter(isCall) };
}

/** A number that changes at some times and holds between them. */
export interface Steps {
  times: Float64Array;
  values: Float64Array;
  /** The sum of value and time before each step. */
  before: Float64Array;
  most: number;
}

/** How many calls are in flight from each time on. Where one ends as another starts, they are not in flight together. */
export function inFlight(calls: Calls): Steps {
  const ends = calls.ends.slice().sort();
  const [times, values] = [new Float64Array(2 * ends.length), new Float64Array(2 * ends.length)];
  let [size, most, depth] = [0, 0, 0];
  for (let i = 0, j = 0; j < ends.length; ) {
    const time = i < calls.starts.length && calls.starts[i] < ends[j] ? calls.starts[i] : ends[j];
    while (j < ends.length && ends[j] === time) {
      depth--;
      j++;
    }
    while (i < calls.starts.length && calls.starts[i] === time) {
      depth++;
      i++;
    }
    times[size] = time;
    values[size++] = depth;
    most = Math.max(most, depth);
  }
  const before = new Float64Array(size);
  for (let at = 1; at < size; at++) before[at] = before[at - 1] + values[at - 1] * (times[at] - times[at - 1]);
  return { times: times.slice(0, size), values: values.slice(0, size), before, most };
}

/** The largest and the mean value over the time of each column of one pixel; where `starts` of calls are regular and about
 * as fine as a pixel, over whole cycles of them. O(columns log n + steps in view). */
export function levels(steps: Steps, view: View, width: number, starts: ArrayLike<number> = []): { largest: Float64Array; mean: Float64Array } {
  const { times, values, before } = steps;
  const [largest, mean] = [new Float64Array(width), new Float64Array(width)];
  const each = span(view) / width;
  // The step that holds at the beginning of a column; -1 before the first.
  let at = upperBound(times, view.start) - 1;
  const until = (time: number): number => (at < 0 ? 0 : before[at] + values[at] * (time - times[at]));
  let passed = until(view.start);
  const isRegular = mayBeat(starts, view.start, view.end, width);
  let begun = 0;
  let [shown, whole] = [[-1, -1], [0, 0]];
  for (let column = 0; column < width; column++) {
    const end = view.start + (column + 1) * each;
    largest[column] = at < 0 ? 0 : values[at];
    while (at + 1 < times.length && times[at + 1] < end) largest[column] = Math.max(largest[column], values[++at]);
    const now = until(end);
    mean[column] = Math.max((now - passed) / each, 0);
    passed = now;
    if (times[at + 1] === end) at++;
    begun = isRegular ? upperFrom(starts, end - each, begun) : 0;
    const around = isRegular ? cycles(starts, begun, end - each, end) : null;
    if (!around) continue;
    // Columns of one cycle show the same.
    if (around[0] !== shown[0] || around[1] !== shown[1]) {
      const [from, to] = [starts[around[0]], starts[around[1]]];
      whole = [(sumUntil(steps, to) - sumUntil(steps, from)) / (to - from), 0];
      for (let step = upperBound(times, from) - 1; step < times.length && times[step] < to; step++) whole[1] = Math.max(whole[1], values[step]);
      shown = around;
    }
    [mean[column], largest[column]] = whole;
  }
  return { largest, mean };
}

/** The sum of value and time before a time. O(log n). */
function sumUntil({ times, values, before }: Steps, time: number): number {
  const at = upperBound(times, time) - 1;
  return at < 0 ? 0 : before[at] + values[at] * (time - times[at]);
}

/** The shortest and longest duration of the calls that start in each column; 0 and 0 for none. */
export function latencies(calls: Calls, view: View, width: number): { low: Float64Array; high: Float64Array } {
  const low = new Float64Array(width);
  const high = new Float64Array(width);
  const each = span(view) / width;
  for (let i = upperBound(calls.starts, view.start - 1); i < calls.starts.length && calls.starts[i] < view.end; i++) {
    const column = Math.min(Math.max(Math.floor((calls.starts[i] - view.start) / each), 0), width - 1);
    const length = calls.ends[i] - calls.starts[i];
    if (!high[column] || length < low[column]) low[column] = length;
    if (length > high[column]) high[column] = length;
  }
  return { low, high };
}
