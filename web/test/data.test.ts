import assert from "node:assert/strict";
import { test } from "node:test";
import { boxes, inOrderOfTime, inverted, samplesIn, sandwich, weights } from "../src/calltree";
import { byLength, CALL, COLD, decoded, type LaneHead, type Rows } from "../src/columns";
import { callsOf, inFlight, latencies, levels } from "../src/counters";
import { parsed, written } from "../src/fragment";
import { Covered } from "../src/intervals";
import { lanesOf } from "../src/lanes";
import { layoutOf, rowAt, stripOf } from "../src/layout";
import { brushed, Density } from "../src/overview";
import { inferredFacts } from "../src/panel";
import { search } from "../src/search";
import { inRange, quantile } from "../src/statistics";
import { compare } from "../src/tables";
import { inkOn } from "../src/theme";
import { axis, bytes, count, duration, moment } from "../src/units";

const HEAD: LaneHead = { id: "activity", title: "Activity", section: "Core ML", words: "", strip: false, count: 3 };
const TEXTS = ["Prediction", "Load", "A", "B"];

function rows(): Rows {
  return {
    starts: Float64Array.of(1_000, 5_000, 6_000),
    ends: Float64Array.of(2_000, 8_000, 7_000),
    categories: Uint8Array.of(4, 4, 1),
    labels: Int32Array.of(0, 0, 1),
    works: Float64Array.of(0, 0, 0x1a5d43),
    models: Int32Array.of(2, 3, 2),
    flags: Uint8Array.of(CALL + COLD, CALL, 0),
    predictions: Int32Array.of(-1, 1, 0),
  };
}

test("columns come back out of their planes", () => {
  const planes = [2, 2, 1, 1, 3, 1, 1, 1];
  const bytes = Uint8Array.of(
    ...[0, 0xa0, 0xe8, 0, 0x0f, 0x03], // gaps 0, 4000, 1000
    ...[0xe8, 0xb8, 0xe8, 0x03, 0x0b, 0x03], // durations 1000, 3000, 1000
    ...[4, 4, 1],
    ...[1, 1, 2],
    ...[0, 0, 0x43, 0, 0, 0x5d, 0, 0, 0x1a],
    ...[3, 4, 0],
    ...[3, 1, 0],
    ...[0, 4, 1], // steps 0, 2, -1
  );
  const flame = { first: 500, samples: 2, nodes: 2, planes: [1, 1, 1, 1, 1], functions: [], places: [] };
  const finding = { id: "x", title: "X", total: 9, severity: "high", facts: [], lanes: [[0, 2]] as [number, number][], loose: 1, first: 4_000 };
  const meta = { lanes: [{ ...HEAD, first: 1_000, planes }], flame, findings: [{ ...finding, planes: [1, 1, 1] }] };
  const stacks = [...[0, 200], ...[1, 0], ...[0, 1], ...[3, 4], ...[0, 1]];
  const evidence = [...[0, 2], 0, 50]; // rows 0 and 2, and 50 ns from 4000 on
  const { rows: [found], flame: tree, findings } = decoded(meta, Uint8Array.of(...bytes, ...stacks, ...evidence));
  assert.deepEqual([...tree!.times, ...tree!.leaves, ...tree!.parents, ...tree!.names], [500, 700, 1, 0, -1, 0, 3, 4]);
  assert.deepEqual([...tree!.lines], [-1, 0]);
  const wanted = { ...rows(), models: Int32Array.of(2, 3, -1) };
  assert.deepEqual(found, wanted);
  const { starts, ends, lanes, rows: places } = findings[0];
  assert.deepEqual([...starts], [1_000, 4_000, 6_000]);
  assert.deepEqual([...ends], [2_000, 4_050, 7_000]);
  assert.deepEqual([[...lanes], [...places]], [[0, -1, 0], [0, -1, 2]]);
  assert.deepEqual([...byLength(findings[0])], [0, 2, 1]);
  assert.throws(() => decoded({ ...meta, flame: null, findings: [] }, Uint8Array.of(...bytes, 1)), /damaged/);
});

test("a call that Core ML did not record says what shows it and between which times it began and ended", () => {
  const lane = { ...HEAD, count: 2, first: 20e6, planes: [4, 4, 1, 1, 1, 1, 1, 1], inferred: { resolution: "\u00b11 ms", planes: [1, 4, 1, 1, 4] } };
  const bytes = Uint8Array.of(
    ...[0, 0x40, 0, 0x42, 0, 0x0f, 0, 0], // gaps 0, 1 ms
    ...[0x40, 0x40, 0x42, 0x42, 0x0f, 0x0f, 0, 0], // durations 1 ms
    ...[4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ...[0, 3], // HARDWARE + SEVERAL
    ...[0x40, 0x40, 0x42, 0x42, 0x0f, 0x0f, 0, 0], // 1 ms before
    ...[200, 0, 200, 0], // 200 ns after the start, and before the end
    ...[0x40, 0x40, 0x42, 0x42, 0x0f, 0x0f, 0, 0], // 1 ms after the end
  );
  const { rows: [found] } = decoded({ lanes: [lane], flame: null, findings: [] }, bytes);
  assert.deepEqual(inferredFacts(found, 0), [
    ["inferred from", "call stacks"],
    ["resolution", "\u00b11 ms"],
    ["started", "0.019000 s to 0.020000 s"],
    ["ended", "0.020999 s to 0.022000 s"],
  ]);
  assert.deepEqual(inferredFacts(found, 1), [
    ["inferred from", "hardware rows"],
    ["started", "at 0.021000 s or before"],
    ["ended", "at 0.022000 s or later"],
    ["calls", "one or more"],
  ]);
  assert.deepEqual(inferredFacts(rows(), 0), []);
});

test("lanes are grouped as in the recording, by event and by model", () => {
  const titles = (grouping: "lanes" | "events" | "models"): string[] =>
    lanesOf([HEAD], [rows()], TEXTS, grouping).lanes.map((lane) => `${lane.section}/${lane.title}`);
  assert.deepEqual(titles("lanes"), ["Core ML/Activity"]);
  assert.deepEqual(titles("events"), ["Activity/Prediction", "Activity/Load"]);
  assert.deepEqual(titles("models"), ["A/Activity", "B/Activity"]);
  const { places } = lanesOf([HEAD], [rows()], TEXTS, "models");
  assert.deepEqual([...places.lane[0]], [0, 1, 0]);
});

test("a height belongs to one row of a lane", () => {
  const { lanes } = lanesOf([HEAD], [rows()], TEXTS, "lanes");
  const { lines, height } = layoutOf(lanes, true);
  assert.deepEqual(lines.map(({ kind }) => kind), ["counter", "counter", "head", "lane"]);
  const lane = lines[3];
  assert.equal(lane.y + lane.height, height);
  assert.deepEqual(rowAt(lines, lanes, lane.y + 5), { lane: 0, row: 0 });
  assert.deepEqual(rowAt(lines, lanes, height - 1), { lane: 0, row: 1 });
  assert.equal(rowAt(lines, lanes, 5), null);
});

test("a title that is longer than the room at its left has two lines", () => {
  const talls = ["request-errors", "load-before-first-token"].map((title) => stripOf(title, 104));
  assert.deepEqual(talls, [18, 30]);
  assert.equal(stripOf("load-before-first-token", 168), 18);
  const { lines } = layoutOf([], false, talls);
  assert.deepEqual(lines.map(({ y, height }) => [y, height]), [[0, 18], [18, 30]]);
});

test("calls are in flight from their start to their end", () => {
  const calls = { starts: Float64Array.of(0, 5, 10, 20), ends: Float64Array.of(10, 15, 12, 30) };
  const steps = inFlight(calls);
  assert.deepEqual([...steps.times], [0, 5, 10, 12, 15, 20, 30]);
  assert.deepEqual([...steps.values], [1, 2, 2, 1, 0, 1, 0]);
  assert.equal(steps.most, 2);
  const { largest, mean } = levels(steps, { start: 0, end: 40 }, 4);
  assert.deepEqual([...largest], [2, 2, 1, 0]);
  // One call for 5 ns and two for 5; two for 2 and one for 3; one for 10.
  assert.deepEqual([...mean], [1.5, 0.7, 1, 0]);
  assert.deepEqual([...levels(steps, { start: 16, end: 20 }, 2).largest], [0, 0]);
  assert.deepEqual([...levels(steps, { start: 11, end: 19 }, 2).mean], [1.25, 0]);
  const { low, high } = latencies(calls, { start: 0, end: 40 }, 4);
  assert.deepEqual([...low], [10, 2, 10, 0]);
  assert.deepEqual([...high], [10, 2, 10, 0]);
});

test("only predictions that the app called count as calls", () => {
  assert.deepEqual([...callsOf(rows()).starts], [1_000, 5_000]);
  assert.equal(callsOf(undefined).starts.length, 0);
});

test("statistics are of what starts in the range, the most time first", () => {
  const lines = inRange([HEAD], [rows()], { start: 1_000, end: 6_000 });
  assert.deepEqual(lines.map(({ model, count, sum }) => [model, count, sum]), [[3, 1, 3_000], [2, 1, 1_000]]);
  assert.equal(inRange([HEAD], [rows()], { start: 1_001, end: 5_000 }).length, 0);
  assert.equal(lines[0].p95, null);
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
  assert.ok(Math.abs(quantile([10, 20, 30], 0.95) - 29) < 1e-9);
});

test("a search finds events and models, whatever their case", () => {
  const nothing = { ...rows(), labels: Int32Array.of(-1, -1, -1), models: Int32Array.of(-1, -1, -1) };
  const found = (query: string): number[][] => {
    const { starts, lanes, rows: places } = search([nothing, rows(), rows()], TEXTS, query);
    return [...starts].map((start, i) => [start, lanes[i], places[i]]);
  };
  assert.deepEqual(found(" load "), [[6_000, 1, 2], [6_000, 2, 2]]);
  assert.deepEqual(found("b"), [[5_000, 1, 1], [5_000, 2, 1]]);
  assert.deepEqual(found("PRED").map(([start]) => start), [1_000, 1_000, 5_000, 5_000]);
  assert.deepEqual([found("  "), found("x")], [[], []]);
});

test("the end of an address says what to show, and nonsense says nothing", () => {
  const place = { finding: "a-b", range: { start: 5, end: 70 } };
  assert.equal(written(place), "#finding=a-b&range=5-70");
  assert.deepEqual(parsed(written(place)), place);
  assert.equal(parsed("#finding=%C3%A9%zz").finding, "\u00e9%zz");
  assert.deepEqual(parsed("#range=70-5"), {});
  assert.deepEqual(parsed("#range=<img>&other"), {});
  assert.equal(written({}), "");
});

test("the brush moves, stretches and marks anew", () => {
  const bounds = { start: 0, end: 1_000_000 };
  const view = { start: 200_000, end: 400_000 };
  assert.deepEqual(brushed(view, bounds, 1_000, 300, 400), { start: 300_000, end: 500_000 });
  assert.deepEqual(brushed(view, bounds, 1_000, 402, 502), { start: 200_000, end: 500_000 });
  assert.deepEqual(brushed(view, bounds, 1_000, 198, 148), { start: 150_000, end: 400_000 });
  assert.deepEqual(brushed(view, bounds, 1_000, 700, 600), { start: 600_000, end: 700_000 });
});

test("the overview adds up how many rows are on", () => {
  const density = new Density([rows()], { start: 0, end: 8_000 }, 8);
  assert.equal(density.top, 2);
  assert.deepEqual([0, 1, 2, 5, 6, 7].map((x) => density.at(x, 8)), [0, 0.5, 0, 0.5, 1, 0.5]);
});

test("numbers read as in the report", () => {
  assert.deepEqual([999, 1_234, 12_345_678, 1_740_000_000].map(duration), ["999 ns", "1.23 \u00b5s", "12.3 ms", "1.74 s"]);
  assert.equal(moment(62_003_456_789), "01:02.003");
  assert.equal(moment(62_003_456_789, 1e3), "01:02.003456");
  assert.deepEqual([999, 1_000, 1_234_567].map(count), ["999", "1,000", "1,234,567"]);
  assert.equal(duration(123_456e9), "123,456 s");
  assert.equal(axis(1.5e9, 5e8), "1.5 s");
  assert.equal(axis(2e9, 1e9), "2 s");
});

test("accounts of predictions and samples of a size come back out of their planes", () => {
  const sizes = { first: 7, count: 2, planes: [1, 2] };
  const lane = { ...HEAD, count: 0, sizes };
  const accounts = { count: 2, planes: [1, 1], causes: [["heat", 1, [1, 1]]] as [string, number, number[]][] };
  const bytes = Uint8Array.of(0, 3, 0xe8, 0xd0, 0x03, 0x07, ...[4, 2], ...[9, 8], 1, 5);
  const { rows: [found], accounts: told } = decoded({ lanes: [lane], flame: null, findings: [], accounts }, bytes);
  assert.deepEqual([...found.sizes!.times, ...found.sizes!.values, found.sizes!.most], [7, 10, 1_000, 2_000, 2_000]);
  assert.deepEqual([...told!.rows, ...told!.usual], [4, 6, 9, 8]);
  assert.deepEqual([told!.causes[0].name, ...told!.causes[0].at, ...told!.causes[0].lengths], ["heat", 1, 5_000]);
});

test("sizes read as in Finder", () => {
  assert.deepEqual([999, 1_000, 59_100_000, 999_600, 1_350_000_000].map(bytes), ["999 bytes", "1.00 KB", "59.1 MB", "1.00 MB", "1.35 GB"]);
});

test("an address holds what is selected, searched and in view", () => {
  const place = { finding: "a-b", range: { start: 1, end: 2 }, view: { start: 0, end: 9 }, event: { lane: 3, row: 14 }, find: "50% of" };
  assert.deepEqual(parsed(written(place)), place);
  assert.deepEqual(parsed("#event=3&view=9-1&range=x"), {});
});

test("boxes in order of time are one for as long as a function goes on", () => {
  // 0 calls 1 and 2.
  const flame = {
    times: Float64Array.of(0, 1, 2, 3),
    leaves: Int32Array.of(1, 1, 2, 1),
    parents: Int32Array.of(-1, 0, 0),
    names: Int32Array.of(0, 1, 2),
    lines: Int32Array.of(-1, -1, -1),
    functions: [["main", "App", 1], ["load", "CoreML", 0], ["run", "App", 1]] as [string, string, number][],
    places: [],
  };
  const all = Covered.of(Float64Array.of(0), Float64Array.of(4));
  const places = (root: number, library = ""): number[][] =>
    inOrderOfTime(flame, all, library, root, 0).map(({ node, level, left, right }) => [node, level, left, right]);
  assert.deepEqual(places(-1), [[0, 0, 0, 1], [1, 1, 0, 0.5], [2, 1, 0.5, 0.75], [1, 1, 0.75, 1]]);
  assert.deepEqual(places(1), [[1, 0, 0, 1]]);
  assert.deepEqual(places(-1, "CoreML"), [[0, 0, 0, 1], [1, 1, 0, 1]]);
});

test("what is not known is sorted below everything, in both directions", () => {
  const sorted = (sign: number): (number | null)[] => [3, null, 1].sort((a, b) => compare(a, b, sign));
  assert.deepEqual([sorted(1), sorted(-1)], [[1, 3, null], [3, 1, null]]);
});

test("the call tree counts the samples of some times, each once", () => {
  // 0 calls 1 and 2; 3 stands alone.
  const flame = {
    times: Float64Array.of(10, 20, 30, 40, 50),
    leaves: Int32Array.of(1, 2, 2, 0, 3),
    parents: Int32Array.of(-1, 0, 0, -1),
    names: Int32Array.of(0, 1, 2, 3),
    lines: Int32Array.of(-1, 0, -1, -1),
    functions: [] as [string, string, number][],
    places: ["a.swift:1"],
  };
  const time = (...pieces: [number, number][]): Covered =>
    Covered.of(Float64Array.from(pieces, ([start]) => start), Float64Array.from(pieces, ([, end]) => end));
  assert.deepEqual([...weights(flame, time([0, 100]))], [4, 1, 2, 1]);
  const inside = weights(flame, time([15, 41], [20, 30]));
  assert.deepEqual([...inside], [3, 0, 2, 0]);
  assert.deepEqual(boxes(flame, inside, -1, 0.01), [
    { node: 0, level: 0, left: 0, right: 1 },
    { node: 2, level: 1, left: 0, right: 2 / 3 },
  ]);
  assert.deepEqual(boxes(flame, inside, 2, 0.01).map(({ node, right }) => [node, right]), [[2, 1]]);
  assert.deepEqual(boxes(flame, weights(flame, time()), -1, 0.01), []);
  const named = { ...flame, functions: ["App", "CoreML", "App", "App"].map((name) => ["f", name, 0] as [string, string, number]) };
  const all = weights(named, time([0, 100]));
  assert.deepEqual(["coreml", "f [app]", "none"].map((text) => samplesIn(named, all, text)), [1, 5, 0]);
  assert.deepEqual([...weights(named, time([0, 100]), "CoreML")], [1, 1, 0, 0]);
});

test("a function stands between what called it and what it called, with all of its samples", () => {
  // start > work > pack, start > idle > work > (pack > work, copy)
  const flame = {
    times: Float64Array.of(1, 2, 3, 4),
    leaves: Int32Array.of(2, 6, 7, 3),
    parents: Int32Array.of(-1, 0, 1, 0, 3, 4, 5, 4),
    names: Int32Array.of(0, 1, 2, 3, 1, 2, 1, 4),
    lines: new Int32Array(8).fill(-1),
    functions: ["start", "work", "pack", "idle", "copy"].map((name): [string, string, number] => [name, "", 0]),
    places: [],
  };
  const { flame: tree, inside, callers } = sandwich(flame, weights(flame, Covered.of(Float64Array.of(0), Float64Array.of(5))), 1);
  const paths = [...inside].map((samples, node) => {
    const path: string[] = [];
    for (let at = node; at >= 0; at = tree.parents[at]) path.unshift(flame.functions[tree.names[at]][0]);
    return `${path.join(" ")} ${samples}`;
  });
  assert.deepEqual([paths[0], paths[callers]], ["work 3", "work 3"]);
  assert.deepEqual(paths.sort(), ["work 3", "work 3", "work copy 1", "work idle 2", "work idle start 2", "work pack 2", "work pack work 1", "work start 1"]);
});

test("inverted, samples are counted from the innermost function on", () => {
  // run calls load and itself, which calls load: 2 samples in load, 1 in the inner run.
  const flame = {
    times: Float64Array.of(10, 20, 30),
    leaves: Int32Array.of(1, 3, 2),
    parents: Int32Array.of(-1, 0, 0, 2),
    names: Int32Array.of(0, 1, 0, 1),
    lines: Int32Array.of(-1, -1, -1, -1),
    functions: [["run", "App", 1], ["load", "CoreML", 0]] as [string, string, number][],
    places: [],
  };
  const all = Covered.of(Float64Array.of(0), Float64Array.of(100));
  const tree = inverted(flame);
  const counts = weights(tree, all);
  const path = (node: number): string =>
    (tree.parents[node] < 0 ? "" : `${path(tree.parents[node])} < `) + flame.functions[tree.names[node]][0];
  const shown = Object.fromEntries([...counts].map((samples, node) => [path(node), samples]));
  assert.deepEqual(shown, { load: 2, "load < run": 2, "load < run < run": 1, run: 1, "run < run": 1 });
});

test("text on a color is black or white, whichever is read more easily", () => {
  assert.deepEqual(["rgb(255, 255, 200)", "rgb(20, 30, 90)"].map(inkOn), ["#000", "#fff"]);
});
