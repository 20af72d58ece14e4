// The whole recording in one strip: how many rows are on over time, where evidence lies, and what is in view.

import type { Rows } from "./columns";
import { bands } from "./raster";
import type { Scene } from "./scene";
import { fitted, FONT } from "./titles";
import { type View, within, xOf } from "./view";

export const HEIGHT = 44;
/** Pixels around an end of what is in view in which it can be taken. */
const GRIP = 8;

/** How many events are on at once in each column of the whole recording: its mean over the column's time. O(rows). */
export class Density {
  private shares: Float32Array;
  top: number;

  constructor(
    all: readonly Rows[],
    readonly bounds: View,
    readonly columns = 600,
  ) {
    this.shares = new Float32Array(columns);
    const each = (bounds.end - bounds.start) / columns;
    for (const rows of all) {
      const { starts, ends } = rows;
      for (let i = 0; i < starts.length; i++) {
        const from = (starts[i] - bounds.start) / each;
        const to = (ends[i] - bounds.start) / each;
        const [first, last] = [Math.floor(from), Math.min(Math.floor(to), columns - 1)];
        if (first === last) this.shares[first] += to - from;
        else {
          this.shares[Math.min(first, columns - 1)] += first + 1 - from;
          for (let column = first + 1; column < last; column++) this.shares[column] += 1;
          this.shares[last] += to - last;
        }
      }
    }
    // Frames as short as a column would beat with it.
    const smooth = Math.floor(columns / 150);
    this.shares = this.shares.map((_, column) => {
      let [sum, weights] = [0, 0];
      for (let by = -smooth; by <= smooth; by++) {
        const weight = smooth + 1 - Math.abs(by);
        if (column + by < 0 || column + by >= columns) continue;
        sum += weight * this.shares[column + by];
        weights += weight;
      }
      return sum / weights;
    });
    this.top = this.shares.reduce((most, share) => Math.max(most, share), 0) || 1;
  }

  /** The largest share of the columns under a pixel, 0 to 1. */
  at(x: number, width: number): number {
    const from = Math.floor((x / width) * this.columns);
    const to = Math.max(Math.floor(((x + 1) / width) * this.columns), from + 1);
    let most = 0;
    for (let column = from; column < Math.min(to, this.columns); column++) most = Math.max(most, this.shares[column]);
    return most / this.top;
  }
}

/** Has the left edge of the lanes; its scale of time is theirs while they show the whole recording. */
export function paintOverview(context: CanvasRenderingContext2D, scene: Scene, density: Density): void {
  const { theme, gutter } = scene;
  const { bounds } = density;
  const width = scene.width - gutter;
  context.fillStyle = theme.raised;
  context.fillRect(0, 0, scene.width, HEIGHT);
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = theme.text;
  context.fillText("Events at once", 8, 15);
  context.fillStyle = theme.dim;
  context.fillText(fitted(context, `0 to ${Number(density.top.toFixed(1))}`, gutter - 12), 8, 29);
  context.save();
  context.translate(gutter, 0);
  context.globalAlpha = 0.55;
  for (let x = 0; x < width; x++) {
    const height = density.at(x, width) * (HEIGHT - 12);
    if (height) context.fillRect(x, HEIGHT - height, 1, Math.max(height, 1));
  }
  context.globalAlpha = 1;
  context.fillStyle = theme.mark;
  for (const marked of [scene.matches, scene.finding]) {
    if (marked) for (const [from, to] of bands(marked.covered, bounds, width)) context.fillRect(from, 2, to - from, 7);
  }
  const [left, right] = [xOf(bounds, width, scene.view.start), xOf(bounds, width, scene.view.end)];
  context.fillStyle = theme.ground;
  context.globalAlpha = 0.65;
  context.fillRect(0, 0, left, HEIGHT);
  context.fillRect(right, 0, width - right, HEIGHT);
  context.globalAlpha = 1;
  context.strokeStyle = theme.accent;
  context.lineWidth = 2;
  context.strokeRect(left + 1, 1, Math.max(right - left - 2, 2), HEIGHT - 2);
  context.restore();
}

/** What dragging the brush from one x to another makes of a view. */
export function brushed(view: View, bounds: View, width: number, from: number, to: number): View {
  const time = (x: number): number => bounds.start + (x / width) * (bounds.end - bounds.start);
  const by = time(to) - time(from);
  const [left, right] = [xOf(bounds, width, view.start), xOf(bounds, width, view.end)];
  if (Math.abs(from - left) <= GRIP) return within({ start: Math.min(view.start + by, view.end - 1), end: view.end }, bounds);
  if (Math.abs(from - right) <= GRIP) return within({ start: view.start, end: Math.max(view.end + by, view.start + 1) }, bounds);
  if (from > left && from < right && right - left < width - 1) return within({ start: view.start + by, end: view.end + by }, bounds);
  return within({ start: Math.min(time(from), time(to)), end: Math.max(time(from), time(to)) }, bounds);
}

/** Drags on the strip: they move the brush or its ends, or draw a new one. */
export function followBrush(canvas: HTMLCanvasElement, scene: Scene, bounds: View, show: (view: View) => void): void {
  let last: number | null = null;
  let from: number | null = null;
  const x = (event: PointerEvent): number => event.clientX - canvas.getBoundingClientRect().left - canvas.clientLeft - scene.gutter;
  const width = (): number => scene.width - scene.gutter;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    last = x(event);
    const [left, right] = [scene.view.start, scene.view.end].map((time) => xOf(bounds, width(), time));
    const isInside = right - left < width() - 1 && last > left - GRIP && last < right + GRIP;
    from = isInside ? null : last;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (last === null) return;
    show(from === null ? brushed(scene.view, bounds, width(), last, x(event)) : brushed(bounds, bounds, width(), from, x(event)));
    last = x(event);
  });
  for (const name of ["pointerup", "pointercancel"] as const) canvas.addEventListener(name, () => (last = null));
}
