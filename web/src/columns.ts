// The lanes as the page holds them (tracekit/report/renderers/html/columns.py writes them).

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
}

/** Start, duration, lane and row of an interval of evidence; lane and row are -1 where it is on no lane. */
export type Evidence = [number, number, number, number];

export interface Finding {
  id: string;
  title: string;
  total: number;
  evidence: Evidence[];
}

export interface Meta {
  start: number;
  end: number;
  source: string;
  categories: [string, string][];
  texts: string[];
  lanes: LaneHead[];
  findings: Finding[];
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
}

/** A prediction that the app called; the first one after a load. */
export const CALL = 1;
export const COLD = 2;

type Numbers = Float64Array | Uint8Array | Int32Array;

/** The rows of all lanes, in their order, out of the bytes of all columns. */
export function decoded(lanes: readonly LaneHead[], bytes: Uint8Array): Rows[] {
  let at = 0;
  function column<T extends Numbers>(into: T, planes: number, less = 0): T {
    for (let plane = 0; plane < planes; plane++) {
      const weight = 256 ** plane;
      for (let i = 0; i < into.length; i++) into[i] += bytes[at + i] * weight;
      at += into.length;
    }
    if (less) for (let i = 0; i < into.length; i++) into[i] -= less;
    return into;
  }
  const all = lanes.map((lane) => {
    const n = lane.count;
    const [gaps, durations, categories, labels, works, models, flags] = lane.planes ?? [0, 0, 0, 0, 0, 0, 0];
    const rows: Rows = {
      starts: column(new Float64Array(n), gaps),
      ends: column(new Float64Array(n), durations),
      categories: column(new Uint8Array(n), categories),
      labels: column(new Int32Array(n), labels, n ? 1 : 0),
      works: column(new Float64Array(n), works),
      models: column(new Int32Array(n), models, n ? 1 : 0),
      flags: column(new Uint8Array(n), flags),
    };
    let time = lane.first ?? 0;
    for (let i = 0; i < n; i++) {
      time += rows.starts[i];
      rows.starts[i] = time;
      rows.ends[i] += time;
    }
    return rows;
  });
  if (at !== bytes.length) throw new Error("the columns of the lanes are damaged");
  return all;
}

/** The bytes behind deflated base64. */
export async function inflated(base64: string): Promise<Uint8Array> {
  const binary = atob(base64);
  const packed = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) packed[i] = binary.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
