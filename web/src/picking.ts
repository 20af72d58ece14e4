// What lies under the pointer, and what is said of it there.

import { LATE } from "./columns";
import { hit } from "./intervals";
import { lineAt, rowAt, RULER } from "./layout";
import { evidenceFor, inferredFacts } from "./panel";
import { labelOf, predictionOf, type Scene, slowOf, type Strip, timesOf } from "./scene";
import type { Match } from "./search";
import { duration, moment, percent } from "./units";
import { span, timeAt } from "./view";

/** The time at an x of the drawing. */
export function timeAtX(scene: Scene, x: number): number {
  return timeAt(scene.view, scene.width - scene.gutter, x - scene.gutter);
}

/** The row there; null for none. */
export function rowUnder(scene: Scene, x: number, y: number): Match | null {
  const found = rowAt(scene.lines, scene.lanes, y - RULER, scene.scroll);
  if (!found || x < scene.gutter || y < RULER) return null;
  const lane = scene.lanes[found.lane];
  const row = hit(scene.all[lane.source], lane.rows[found.row], timeAtX(scene, x - 1.5), timeAtX(scene, x + 1.5));
  return row < 0 ? null : { lane: lane.source, row };
}

/** The strip there; null for none. */
export function stripUnder(scene: Scene, y: number): Strip | null {
  const line = y < RULER ? undefined : lineAt(scene.lines, y - RULER, scene.scroll);
  return line?.kind === "strip" ? scene.strips[line.strip] : null;
}

/** The lane whose title is there; null for none. */
export function titleUnder(scene: Scene, x: number, y: number): number | null {
  const line = x > scene.gutter || y < RULER ? undefined : lineAt(scene.lines, y - RULER, scene.scroll);
  return line?.kind === "lane" ? line.lane : null;
}

/** What is said beside the pointer; empty where there is nothing. */
export function tipAt(scene: Scene, x: number, y: number): string[] {
  if (titleUnder(scene, x, y) !== null) return ["Click: keep this lane at the top, or let it go"];
  const strip = stripUnder(scene, y);
  if (strip) return [strip.findings.length > 1 ? `${strip.findings.length} predictions that took longer than usual` : strip.findings[0].title, "Click for the nearest"];
  const match = rowUnder(scene, x, y);
  if (!match) return [];
  const { start, end } = timesOf(scene, match);
  const rows = scene.all[match.lane];
  // The label says from what.
  const inferred = inferredFacts(rows, match.row).slice(1).map(([name, words]) => `${name} ${words}`);
  const lines = [[`${labelOf(scene, rows, match.row)} \u00b7 ${duration(end - start)} at ${moment(start)}`, ...inferred].join(" \u00b7 ")];
  const prediction = predictionOf(scene, match);
  if (prediction) {
    const whole = span(timesOf(scene, prediction));
    const isLate = scene.meta.lanes[match.lane].id === LATE;
    lines.push(isLate ? `Held up by a prediction of ${duration(whole)}` : `${percent((end - start) / whole)} as long as its prediction of ${duration(whole)}`);
  }
  const found = evidenceFor(scene.findings, match).map(({ id }) => id);
  if (found.length) lines.push(`Evidence for ${found.join(", ")}`);
  if (slowOf(scene.findings, match)) lines.push("Click: why it was slow");
  return lines;
}
