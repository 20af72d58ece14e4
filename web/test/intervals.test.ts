import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rows } from "../src/columns";
import { arranged, Covered, cycles, hit, stacked, upperBound, upperFrom, visible } from "../src/intervals";
import { bands, bars, columns, isDense, isNarrow } from "../src/raster";

function rowsOf(...intervals: [number, number, number?][]): Rows {
  return {
    starts: Float64Array.from(intervals, ([start]) => start),
    ends: Float64Array.from(intervals, ([, end]) => end),
    categories: Uint8Array.from(intervals, ([, , category]) => category ?? 0),
    labels: new Int32Array(intervals.length),
    works: new Float64Array(intervals.length),
    models: new Int32Array(intervals.length),
    flags: new Uint8Array(intervals.length),
    predictions: new Int32Array(intervals.length).fill(-1),
  };
}

const all = (rows: Rows): Int32Array => Int32Array.from(rows.starts, (_, i) => i);

test("binary search counts what is at or below a value", () => {
  assert.deepEqual([0, 1, 2, 5, 9].map((value) => upperBound([1, 2, 2, 5], value)), [0, 1, 3, 4, 4]);
});

test("covered time counts overlaps once, and instants not at all", () => {
  const [starts, ends] = [Float64Array.of(0, 5, 20, 30), Float64Array.of(10, 8, 25, 30)];
  const covered = Covered.of(starts, ends);
  assert.deepEqual([0, 4, 10, 15, 22, 40].map((time) => covered.until(time)), [0, 4, 10, 10, 12, 15]);
  assert.deepEqual([0, 1, 2].map((piece) => [covered.starts[piece], covered.end(piece)]), [[0, 10], [20, 25], [30, 30]]);
  const some = Covered.of(starts, ends, Int32Array.of(1, 2));
  assert.deepEqual([6, 40].map((time) => some.until(time)), [1, 8]);
});

test("each interval takes the first row that is free, and the last row takes the rest", () => {
  const rows = rowsOf([0, 100], [10, 20], [12, 30], [20, 25], [100, 120], [100, 100], [100, 110]);
  assert.deepEqual([...stacked(rows, all(rows), 4)], [0, 1, 2, 1, 0, 1, 2]);
  const taken = stacked(rows, all(rows), 2);
  assert.deepEqual([...taken], [0, 1, 1, 1, 0, 1, 1]);
  assert.deepEqual(arranged(rows, all(rows), taken).map(({ disjoint }) => disjoint), [true, false]);
});

test("what is in view is found by its edges", () => {
  const rows = rowsOf([0, 10], [10, 20], [25, 30], [40, 50]);
  const [row] = arranged(rows, all(rows), stacked(rows, all(rows), 1));
  assert.deepEqual(visible(rows, row, 5, 26), [0, 3]);
  assert.deepEqual(visible(rows, row, 10, 25), [1, 2]);
  assert.deepEqual(visible(rows, row, 31, 39), [3, 3]);
});

test("a click finds the interval that covers most of its pixels", () => {
  const rows = rowsOf([0, 10], [10, 20], [30, 30]);
  const [row] = arranged(rows, all(rows), stacked(rows, all(rows), 4));
  assert.equal(hit(rows, row, 8, 14), 1);
  assert.equal(hit(rows, row, 21, 29), -1);
  assert.equal(hit(rows, row, 28, 33), 2);
});

test("columns have the exact busy share of each category, at most 1 together", () => {
  const rows = rowsOf([0, 50, 1], [50, 75, 2], [120, 180, 1], [300, 400, 2]);
  const [row] = arranged(rows, all(rows), stacked(rows, all(rows), 1));
  const shares = (width: number): number[] => [...columns(row, { start: 0, end: 400 }, width)].slice(0, 2 * width);
  assert.deepEqual(row.parts.map(({ category }) => category), [1, 2]);
  assert.deepEqual(shares(4), [0.5, 0.6, 0, 0, 0.25, 0, 0, 1]);
  assert.deepEqual(shares(2), [0.55, 0, 0.125, 0.5]);
});

test("frames about as fine as a pixel have one share in every column, and those of a pause have none", () => {
  const frames = Array.from({ length: 60 }, (_, i): [number, number] => [33 * i, 33 * i + 12]);
  const rows = rowsOf(...frames, ...frames.map(([start, end]): [number, number] => [start + 5_000, end + 5_000]));
  const [row] = arranged(rows, all(rows), stacked(rows, all(rows), 1));
  // Columns of 25: where they are looked at one by one, a frame covers from 0 to 12 of each.
  const shares = [...columns(row, { start: 0, end: 7_000 }, 280)].slice(0, 280);
  for (const share of shares.slice(2, 76)) assert.ok(Math.abs(share - 12 / 33) < 1e-9);
  assert.ok(shares.slice(82, 200).every((share) => share === 0));
  assert.equal(cycles(Float64Array.of(0, 10, 20, 90, 100), 2, 12, 18), null);
  assert.deepEqual(cycles(Float64Array.of(0, 10, 20, 30, 40), 2, 12, 18), [0, 3]);
});

test("a bound that is searched from a place on is that of all", () => {
  const values = [1, 1, 4, 4, 4, 9, 12];
  for (let value = 0; value < 14; value++) {
    const sought = upperBound(values, value);
    for (let at = 0; at <= sought; at++) assert.equal(upperFrom(values, value, at), sought);
  }
});

test("intervals are drawn one by one only where they are wide enough and do not overlap", () => {
  const rows = rowsOf([0, 10], [20, 30], [90, 91]);
  const [row] = arranged(rows, all(rows), stacked(rows, all(rows), 1));
  const drawn = bars(rows, row, { start: 0, end: 100 }, 100)!;
  assert.deepEqual(drawn.map(({ at, left, right }) => [at, left, right]), [[0, 0, 10], [1, 20, 30], [2, 90, 91]]);
  assert.equal(bars(rows, row, { start: 0, end: 100 }, 8), null);
  assert.equal(bars(rows, { ...row, disjoint: false }, { start: 0, end: 100 }, 100), null);
});

test("a short interval beside a row of shares is no bar", () => {
  const rows = rowsOf(...Array.from({ length: 100 }, (_, i): [number, number] => [10 * i, 10 * i + 4]), [501, 503]);
  const at = (...positions: number[]): Int32Array => Int32Array.from(positions);
  const many = { positions: at(...Array.from({ length: 100 }, (_, i) => i)), disjoint: true, parts: [] };
  const lone = { positions: at(100), disjoint: true, parts: [] };
  const whole = { start: 0, end: 1_000 };
  assert.deepEqual([many, lone].map((row) => isDense(rows, row, whole, 100)), [true, false]);
  assert.equal(isNarrow(bars(rows, lone, whole, 100)!), true);
  assert.equal(isNarrow(bars(rows, lone, { start: 490, end: 510 }, 100)!), false);
  assert.equal(isDense(rows, many, { start: 490, end: 510 }, 100), false);
});

test("bands join what is on neighboring pixels, and nothing else", () => {
  const found = (view: { start: number; end: number }, ...intervals: [number, number][]): number[][] =>
    bands(
      Covered.of(Float64Array.from(intervals, ([start]) => start), Float64Array.from(intervals, ([, end]) => end)),
      view,
      100,
    ).map((band) => band.map(Math.round));
  const view = { start: 0, end: 1_000 };
  // Ten to a pixel: two pixels at least; 100 to 120 and 125 to 150 are less than a pixel apart, 200 is not.
  assert.deepEqual(found(view, [0, 1], [100, 120], [125, 150], [200, 230]), [[0, 2], [10, 15], [20, 23]]);
  // What began before and goes on is seen; what is over, or comes later, is not.
  assert.deepEqual(found({ start: 500, end: 1_500 }, [0, 100], [200, 600], [1_600, 1_700]), [[-4, 10]]);
  assert.deepEqual(found({ start: 500, end: 600 }, [0, 5_000]), [[-4, 104]]);
  assert.deepEqual(found(view), []);
  const dense = Array.from({ length: 1_000 }, (_, i): [number, number] => [i, i]);
  assert.deepEqual(found(view, ...dense), [[0, 102]]);
});
