// Which part of time is on screen, and moving it. Times are ns since the start of the run, in half-open ranges.

export interface View {
  readonly start: number;
  readonly end: number;
}

/** The least time on screen: below it, neighboring columns would have the same time. */
export const LEAST_SPAN = 200;

export function span(view: View): number {
  return view.end - view.start;
}

/** The x of a time on a drawing of that width. */
export function xOf(view: View, width: number, time: number): number {
  return ((time - view.start) / span(view)) * width;
}

/** The time at an x. */
export function timeAt(view: View, width: number, x: number): number {
  return view.start + (x / width) * span(view);
}

/** The view moved and, where it is longer than the bounds, shortened until it lies within them. */
export function within(view: View, bounds: View): View {
  const length = Math.min(Math.max(span(view), LEAST_SPAN), span(bounds));
  const start = Math.min(Math.max(view.start, bounds.start), bounds.end - length);
  return { start, end: start + length };
}

/** Shows `factor` times as much time; what is at `time` stays where it is. */
export function zoomed(view: View, bounds: View, factor: number, time: number): View {
  const length = Math.min(Math.max(span(view) * factor, LEAST_SPAN), span(bounds));
  const share = (time - view.start) / span(view);
  const start = time - share * length;
  return within({ start, end: start + length }, bounds);
}

/** Moved by a share of what is on screen. */
export function panned(view: View, bounds: View, share: number): View {
  const by = share * span(view);
  return within({ start: view.start + by, end: view.end + by }, bounds);
}

/** A range with room on both sides, so that what surrounds it can be seen. */
export function around(range: View, bounds: View, room: number): View {
  const length = Math.max(span(range), LEAST_SPAN);
  const middle = (range.start + range.end) / 2;
  const half = length * (0.5 + room);
  return within({ start: middle - half, end: middle + half }, bounds);
}

/** Times of the ticks of an axis that has room for about `count` of them, and the step between them. */
export function ticks(view: View, count: number): { step: number; times: number[] } {
  const rough = span(view) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max([1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough) ?? 10 * power, 1);
  const times: number[] = [];
  for (let time = Math.ceil(view.start / step) * step; time <= view.end; time += step) times.push(time);
  return { step, times };
}
