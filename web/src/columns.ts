// The lanes as the page holds them (tracekit/report/viewers/lane_columns.py writes them).

import { moment } from "./units";

export interface LaneHead {
  id: string;
  title: string;
  section: string;
  words: string;
  strip: boolean;
  count: number;
  first?: number;
  /** Bytes of each value, by column. */
  planes?: number[];
  /** Samples of a size in bytes: the first time, how many, and bytes of each value. */
  sizes?: { first: number; count: number; planes: number[] };
  /** Where Core ML did not record the calls: distance of samples in ns, and bytes of each value as above. */
  inferred?: { resolution: string; planes: number[] };
}

/** Intervals as the page holds them. */
export interface Evidence {
  /** Lane, and how many of its rows are evidence. */
  lanes: [number, number][];
  /** Intervals that are on no lane, and the start of the first. */
  loose: number;
  first: number;
  planes: number[];
}

interface Named {
  id: string;
  title: string;
  total: number;
  /** Empty for a slow prediction. */
  severity: string;
  /** What its fix saves, its line of code and the fix, as far as they are known. */
  facts: [string, string][];
}

/** A finding as the page holds it. */
export type FindingHead = Evidence & Named;

/** A slow prediction as the page holds it, with where it is and what is behind that. */
export interface SlowHead extends Evidence {
  lane: number;
  row: number;
  model: string;
  /** How long it took, in no more digits than are known. */
  length: string;
  sentence: string;
  /** How much longer than usual, and why. */
  parts: [string, string][];
}

/** Intervals that are sorted by start. All arrays have one value for each. */
export interface Marks {
  starts: Float64Array;
  ends: Float64Array;
  /** -1 where the interval is on no lane; so are rows. */
  lanes: Int32Array;
  rows: Int32Array;
}

/** A finding with its evidence. */
export interface Finding extends Marks, Named {
  /** Of a slow prediction. */
  slow?: SlowHead;
}

export interface Meta {
  start: number;
  end: number;
  source: string;
  categories: [string, string][];
  /** Categories of what was not recorded itself. */
  outlined: number[];
  texts: string[];
  lanes: LaneHead[];
  findings: FindingHead[];
  /** Which code calls a model: kind of call, model (null: several), words. */
  sites: [string, string | null, string][];
  slow: SlowHead[];
  accounts: AccountsHead | null;
  flame: FlameHead | null;
  /** Time that stands above the same time of the other recording on the page; absent where there is no other. */
  origin?: number;
}

/** The rows of one lane, sorted by start. All arrays have one value for each. */
export interface Rows {
  starts: Float64Array;
  ends: Float64Array;
  categories: Uint8Array;
  /** Codes of texts, -1 for none. */
  labels: Int32Array;
  /** Ids of pieces of work, which end labels; 0 for none. */
  works: Float64Array;
  models: Int32Array;
  /** CALL and COLD, added up. */
  flags: Uint8Array;
  /** The row of the Activity lane that is the prediction that each belongs to; -1 for none. */
  predictions: Int32Array;
  sizes?: Sizes;
  inferred?: Inferred;
}

/** Samples of a size in bytes, sorted by time. */
export interface Sizes { times: Float64Array; values: Float64Array; most: number }

export interface AccountsHead {
  count: number;
  planes: number[];
  /** Name of a cause, of how many predictions it is a part, and bytes of each value. */
  causes: [string, number, number[]][];
}

/** What predictions took beyond a usual one: rows of the Activity lane, sorted, and the usual time of each. */
export interface Accounts {
  rows: Int32Array;
  usual: Float64Array;
  /** Positions among the rows, sorted, and times. */
  causes: { name: string; at: Int32Array; lengths: Float64Array }[];
}

/** What is known of calls that Core ML did not record. All arrays have one value for each. */
export interface Inferred {
  resolution: string;
  /** HARDWARE, SEVERAL and SIGNPOST, added up. */
  flags: Uint8Array;
  startMin: Float64Array;
  startMax: Float64Array;
  endMin: Float64Array;
  endMax: Float64Array;
}

/** Hardware rows alone show the call, so that it began before and ended later; it may be several calls. */
export const HARDWARE = 1;
export const SEVERAL = 2;
/** Core ML's signpost shows it, with exact times. */
export const SIGNPOST = 4;

/** A prediction that the app called; the first one after a load. */
export const CALL = 1;
export const COLD = 2;
/** Id of the lane of late frames, whose predictions are those that held them up. */
export const LATE = "late frames";

export interface FlameHead {
  first: number;
  samples: number;
  nodes: number;
  planes: number[];
  /** Function, library, and 1 for those of the app. */
  functions: [string, string, number][];
  /** Lines of source files. */
  places: string[];
}

/** Samples of running threads, and the call tree that they ended in. */
export interface Flame {
  /** Of each sample, sorted. */
  times: Float64Array;
  /** Node of each sample. */
  leaves: Int32Array;
  /** Of each node: the one before it, -1 for none; parents stand before their children. */
  parents: Int32Array;
  /** Of each node: its function. */
  names: Int32Array;
  /** Of each node: the line that most of its samples were in; -1 where it is not known. */
  lines: Int32Array;
  functions: [string, string, number][];
  places: string[];
}

type Numbers = Float64Array | Uint8Array | Int32Array;

/** Reads columns one after the other. */
class Reader {
  private at = 0;
  private sums = new Float64Array(0);

  constructor(private readonly bytes: Uint8Array) {}

  column<T extends Numbers>(into: T, planes: number, less = 0): T {
    const size = into.length;
    if (planes === 1 && !less) into.set(this.plane(size));
    else {
      // One kind of array in the loops, whatever the column is of: a browser runs them several times as fast.
      if (this.sums.length < size) this.sums = new Float64Array(size);
      const sums = this.sums.subarray(0, size).fill(-less);
      for (let plane = 0; plane < planes; plane++) {
        const [bytes, weight] = [this.plane(size), 256 ** plane];
        for (let i = 0; i < size; i++) sums[i] += bytes[i] * weight;
      }
      into.set(sums);
    }
    return into;
  }

  private plane(size: number): Uint8Array {
    return this.bytes.subarray(this.at, (this.at += size));
  }

  end(): void {
    if (this.at !== this.bytes.length) throw new Error("the columns of the lanes are damaged");
  }
}

export interface Decoded {
  rows: Rows[];
  flame: Flame | null;
  /** Those that the page has, then slow predictions. */
  findings: Finding[];
  accounts: Accounts | null;
}

/** The rows of all lanes, in their order, the call stacks and the evidence, out of the bytes of all columns. */
export function decoded(meta: Pick<Meta, "lanes" | "flame" | "findings"> & Partial<Pick<Meta, "slow" | "accounts">>, bytes: Uint8Array): Decoded {
  const reader = new Reader(bytes);
  const rows = meta.lanes.map((lane) => laneOf(lane, reader));
  const flame = meta.flame ? flameOf(meta.flame, reader) : null;
  const findings: Finding[] = meta.findings.map(({ id, title, total, severity, facts, ...head }) => ({ id, title, total, severity, facts, ...marksOf(head, rows, reader) }));
  const accounts = meta.accounts ? accountsOf(meta.accounts, reader) : null;
  for (const slow of meta.slow ?? []) {
    const title = `${slow.length} at ${moment(rows[slow.lane].starts[slow.row])} \u00b7 ${slow.model}`;
    const marks = marksOf(slow, rows, reader);
    findings.push({ id: `why-${slow.lane}-${slow.row}`, title, total: marks.starts.length, severity: "", facts: [], slow, ...marks });
  }
  reader.end();
  return { rows, flame, findings, accounts };
}

function accountsOf({ count, planes, causes }: AccountsHead, reader: Reader): Accounts {
  const rows = addUp(reader.column(new Int32Array(count), planes[0]), 0);
  const usual = reader.column(new Float64Array(count), planes[1]);
  const found = causes.map(([name, size, [gaps, lengths]]) => ({
    name,
    at: addUp(reader.column(new Int32Array(size), gaps), 0),
    lengths: reader.column(new Float64Array(size), lengths).map((us) => 1_000 * us),
  }));
  return { rows, usual, causes: found };
}

function marksOf(head: Evidence, all: Rows[], reader: Reader): Marks {
  const drawn = head.lanes.reduce((sum, [, count]) => sum + count, 0);
  const count = drawn + head.loose;
  const gaps = reader.column(new Int32Array(drawn), head.planes[0]);
  const begins = reader.column(new Float64Array(head.loose), head.planes[1]);
  const lengths = reader.column(new Float64Array(head.loose), head.planes[2]);
  addUp(begins, head.first);
  const [starts, ends] = [new Float64Array(count), new Float64Array(count)];
  const [lanes, rows] = [new Int32Array(count).fill(-1), new Int32Array(count).fill(-1)];
  let at = 0;
  for (const [lane, size] of head.lanes) {
    for (let row = 0, i = 0; i < size; i++, at++) {
      row += gaps[at];
      lanes[at] = lane;
      rows[at] = row;
      starts[at] = all[lane].starts[row];
      ends[at] = all[lane].ends[row];
    }
  }
  starts.set(begins, at);
  for (let i = 0; i < head.loose; i++) ends[at + i] = begins[i] + lengths[i];
  return inOrder({ starts, ends, lanes, rows });
}

/** Intervals that stand lane by lane, each sorted, as one. O(n log lanes). */
export function inOrder(marks: Marks): Marks {
  const { starts, ends, lanes, rows } = marks;
  if (starts.every((start, i) => !i || starts[i - 1] <= start)) return marks;
  // Sorting a plain array merges what is sorted already; sorting a typed one does not.
  const byStart = Array.from({ length: starts.length }, (_, i) => i).sort((a, b) => starts[a] - starts[b]);
  return {
    starts: starts.map((_, i) => starts[byStart[i]]),
    ends: ends.map((_, i) => ends[byStart[i]]),
    lanes: lanes.map((_, i) => lanes[byStart[i]]),
    rows: rows.map((_, i) => rows[byStart[i]]),
  };
}

/** Places of the intervals, the longest first. O(n log n). */
export function byLength({ starts, ends }: Marks): Uint32Array {
  const length = (i: number): number => ends[i] - starts[i];
  return new Uint32Array(starts.length).map((_, i) => i).sort((a, b) => length(b) - length(a) || a - b);
}

function laneOf(lane: LaneHead, reader: Reader): Rows {
  const n = lane.count;
  const [gaps, durations, categories, labels, works, models, flags, predictions] = lane.planes ?? [0, 0, 0, 0, 0, 0, 0, 0];
  const rows: Rows = {
    starts: reader.column(new Float64Array(n), gaps),
    ends: reader.column(new Float64Array(n), durations),
    categories: reader.column(new Uint8Array(n), categories),
    labels: reader.column(new Int32Array(n), labels, n ? 1 : 0),
    works: reader.column(new Float64Array(n), works),
    models: reader.column(new Int32Array(n), models, n ? 1 : 0),
    flags: reader.column(new Uint8Array(n), flags),
    predictions: reader.column(new Int32Array(n), predictions),
  };
  let prediction = 0;
  // The steps between places are stored so that none is negative: 0, -1, 1, -2, ...
  for (let i = 0; i < n; i++) {
    const step = rows.predictions[i];
    prediction += step & 1 ? -(step + 1) / 2 : step / 2;
    rows.predictions[i] = prediction - 1;
  }
  addUp(rows.starts, lane.first ?? 0);
  for (let i = 0; i < n; i++) rows.ends[i] += rows.starts[i];
  if (lane.sizes) {
    const { first, count, planes } = lane.sizes;
    const times = addUp(reader.column(new Float64Array(count), planes[0]), first);
    const values = reader.column(new Float64Array(count), planes[1]);
    rows.sizes = { times, values, most: values.reduce((most, value) => Math.max(most, value), 0) };
  }
  if (lane.inferred) rows.inferred = inferredOf(lane.inferred, rows, reader);
  return rows;
}

function inferredOf(head: { resolution: string; planes: number[] }, rows: Rows, reader: Reader): Inferred {
  const n = rows.starts.length;
  const flags = reader.column(new Uint8Array(n), head.planes[0]);
  const [before, after, short, long] = head.planes.slice(1).map((planes) => reader.column(new Float64Array(n), planes));
  return {
    resolution: head.resolution,
    flags,
    startMin: rows.starts.map((start, i) => start - before[i]),
    startMax: rows.starts.map((start, i) => start + after[i]),
    endMin: rows.ends.map((end, i) => end - short[i]),
    endMax: rows.ends.map((end, i) => end + long[i]),
  };
}

function flameOf(head: FlameHead, reader: Reader): Flame {
  const [gaps, leaves, parents, names, lines] = head.planes;
  const flame: Flame = {
    times: reader.column(new Float64Array(head.samples), gaps),
    leaves: reader.column(new Int32Array(head.samples), leaves),
    parents: reader.column(new Int32Array(head.nodes), parents, 1),
    names: reader.column(new Int32Array(head.nodes), names),
    lines: reader.column(new Int32Array(head.nodes), lines, 1),
    functions: head.functions,
    places: head.places,
  };
  addUp(flame.times, head.first);
  return flame;
}

/** Times out of the gaps between them, in place. */
function addUp<T extends Float64Array | Int32Array>(gaps: T, first: number): T {
  let time = first;
  for (let i = 0; i < gaps.length; i++) gaps[i] = time += gaps[i];
  return gaps;
}

/** The bytes behind deflated base64. */
export async function inflated(base64: string): Promise<Uint8Array> {
  const binary = atob(base64);
  const packed = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) packed[i] = binary.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
