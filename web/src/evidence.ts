// Going through the evidence of the finding that is marked, or through what is behind a slow prediction.

import { byLength, type Finding } from "./columns";
import { type Scene, timesOf, predictionOf } from "./scene";
import type { Match } from "./search";
import { count, counted } from "./units";
import type { View } from "./view";

export class Evidence {
  /** Of evidence the interval that weighs most comes first; those behind a slow prediction are gone through in order. */
  private readonly order: ArrayLike<number>;
  private at: number;

  constructor(readonly finding: Finding) {
    this.order = finding.slow ? finding.starts.map((_, i) => i) : byLength(finding);
    this.at = finding.slow ? -1 : 0;
  }

  step(by: number): void {
    const from = Math.max(this.at, by > 0 ? -1 : 0);
    this.at = (from + by + this.order.length) % this.order.length;
  }

  /** Goes to the interval that is on at a time, or nearest to it. */
  goTo(time: number): void {
    const { starts, ends } = this.finding;
    const away = (i: number): number => Math.max(starts[i] - time, time - ends[i], 0);
    let best = 0;
    for (let i = 1; i < this.order.length; i++) if (away(this.order[i]) < away(this.order[best])) best = i;
    this.at = best;
  }

  /** The row; null for an interval that is on no lane. */
  get row(): Match | null {
    const at = this.order[Math.max(this.at, 0)];
    return this.finding.lanes[at] < 0 ? null : { lane: this.finding.lanes[at], row: this.finding.rows[at] };
  }

  /** The interval, with the whole prediction that it belongs to. */
  whole(scene: Scene): View {
    const at = this.order[Math.max(this.at, 0)];
    const own = { start: this.finding.starts[at], end: this.finding.ends[at] };
    const prediction = this.row && predictionOf(scene, this.row);
    if (!prediction) return own;
    const { start, end } = timesOf(scene, prediction);
    return { start: Math.min(start, own.start), end: Math.max(end, own.end) };
  }

  get words(): string {
    const { slow, starts, total } = this.finding;
    if (slow) return `behind it: ${counted(total, "interval")}`;
    return starts.length < total ? `the ${count(starts.length)} that weigh most of ${counted(total, "interval")}` : counted(total, "interval");
  }
}
