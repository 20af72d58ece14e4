// What the timeline shows: the recording, where its lanes stand, what is in view and what is marked.

import type { Accounts, Finding, Marks, Meta, Rows } from "./columns";
import { type Calls, callsOf, inFlight, type Steps } from "./counters";
import { Covered } from "./intervals";
import { type Grouping, type Lane, lanesOf, type Places } from "./lanes";
import type { Line } from "./layout";
import { type Match, search } from "./search";
import { type Theme, themeOf } from "./theme";
import type { View } from "./view";

/** The time that marks cover. */
export interface Covering {
  covered: Covered;
}

export function covering<T extends Marks>(marks: T): T & Covering {
  return { ...marks, covered: Covered.of(marks.starts, marks.ends) };
}

/** A line above the lanes: where the evidence of a finding lies, or where the slowest predictions are. */
export interface Strip extends Covering {
  title: string;
  severity: string;
  /** What a click on it marks: the one whose own time is nearest. */
  findings: Finding[];
}

/** Most strips: those of the findings that cost most. All are in the list of the toolbar. */
const STRIPS = 5;

export interface Scene {
  meta: Meta;
  all: Rows[];
  findings: Finding[];
  accounts: Accounts | null;
  strips: Strip[];
  lanes: Lane[];
  places: Places;
  /** Lanes that stay at the top, by `keyOf`. */
  pinned: Set<string>;
  calls: Calls;
  flight: Steps;
  /** Ends of the scales of the strips of predictions; of two recordings on a page, those of both. */
  most: number;
  longest: number;
  lines: Line[];
  view: View;
  selected: Match | null;
  range: View | null;
  finding: (Finding & Covering) | null;
  matches: Marks & Covering;
  theme: Theme;
  /** Pixels of titles at the left. */
  gutter: number;
  width: number;
  height: number;
  scroll: number;
}

export function sceneOf(meta: Meta, all: Rows[], findings: Finding[], accounts: Accounts | null, view: View): Scene {
  const calls = callsOf(all[meta.lanes.findIndex((lane) => lane.id === "activity")]);
  const flight = inFlight(calls);
  let longest = 1;
  for (let i = 0; i < calls.starts.length; i++) longest = Math.max(longest, calls.ends[i] - calls.starts[i]);
  return {
    meta,
    all,
    findings,
    accounts,
    strips: stripsOf(all, findings),
    ...lanesOf(meta.lanes, all, meta.texts, "lanes", meta.categories),
    pinned: new Set(),
    calls,
    flight,
    most: flight.most,
    longest,
    lines: [],
    view,
    selected: null,
    range: null,
    finding: null,
    matches: covering(search([], [], "")),
    theme: themeOf(meta.categories.map(([name]) => name)),
    gutter: 0,
    width: 0,
    height: 0,
    scroll: 0,
  };
}

function stripsOf(all: Rows[], findings: Finding[]): Strip[] {
  const found = findings.filter(({ slow }) => !slow).slice(0, STRIPS);
  const strips = found.map((finding) => ({ ...covering(finding), title: finding.id, severity: finding.severity, findings: [finding] }));
  const slow = findings.filter((finding) => finding.slow);
  if (!slow.length) return strips;
  const times = slow.map(({ slow: at }): [number, number] => [all[at!.lane].starts[at!.row], all[at!.lane].ends[at!.row]]).sort((a, b) => a[0] - b[0]);
  const covered = Covered.of(Float64Array.from(times, ([start]) => start), Float64Array.from(times, ([, end]) => end));
  return [...strips, { title: "Slowest predictions", severity: "", findings: slow, covered }];
}

/** Names a lane, whatever lanes there are beside it. */
export function keyOf(lane: Lane): string {
  return `${lane.section}/${lane.title}`;
}

export function group(scene: Scene, grouping: Grouping): void {
  Object.assign(scene, lanesOf(scene.meta.lanes, scene.all, scene.meta.texts, grouping, scene.meta.categories));
}

/** The time of a row. */
export function timesOf(scene: Pick<Scene, "all">, { lane, row }: Match): View {
  return { start: scene.all[lane].starts[row], end: scene.all[lane].ends[row] };
}

/** The prediction that a row belongs to; null for none, and for a prediction itself. */
export function predictionOf(scene: Pick<Scene, "all" | "meta">, { lane, row }: Match): Match | null {
  const prediction = scene.all[lane].predictions[row];
  return prediction < 0 ? null : { lane: scene.meta.lanes.findIndex(({ id }) => id === "activity"), row: prediction };
}

/** Why a row was slow, where the page says it. */
export function slowOf(findings: readonly Finding[], { lane, row }: Match): Finding | undefined {
  return findings.find(({ slow }) => slow?.lane === lane && slow.row === row);
}

/** What an event is called, with its model. */
export function labelOf(scene: { meta: Meta }, rows: Rows, at: number): string {
  const model = scene.meta.texts[rows.models[at]];
  return model ? `${eventOf(scene, rows, at)} \u00b7 ${model}` : eventOf(scene, rows, at);
}

/** What an event is called. */
export function eventOf(scene: { meta: Meta }, rows: Rows, at: number): string {
  const work = rows.works[at] ? ` 0x${rows.works[at].toString(16)}` : "";
  return (scene.meta.texts[rows.labels[at]] ?? "unnamed event") + work;
}
