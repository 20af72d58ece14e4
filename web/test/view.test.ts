import assert from "node:assert/strict";
import { test } from "node:test";
import { around, LEAST_SPAN, panned, ticks, timeAt, within, xOf, zoomed } from "../src/view";

const BOUNDS = { start: 0, end: 10_000_000_000 };

test("a time and its place on the drawing belong to each other", () => {
  const view = { start: 1_000_000, end: 9_000_000 };
  assert.equal(xOf(view, 800, 1_000_000), 0);
  assert.equal(xOf(view, 800, 9_000_000), 800);
  for (const time of [1_000_000, 2_345_678, 8_999_999]) {
    assert.ok(Math.abs(timeAt(view, 800, xOf(view, 800, time)) - time) < 1e-6);
  }
});

test("zooming keeps what is under the pointer", () => {
  const view = zoomed(BOUNDS, BOUNDS, 0.25, 4e9);
  assert.equal(view.end - view.start, 2.5e9);
  assert.equal((4e9 - view.start) / 2.5e9, 0.4);
});

test("no view leaves the recording or gets too short", () => {
  assert.deepEqual(zoomed(BOUNDS, BOUNDS, 5, 1e9), BOUNDS);
  assert.deepEqual(panned({ start: 0, end: 1e9 }, BOUNDS, -0.5), { start: 0, end: 1e9 });
  assert.deepEqual(panned({ start: 9e9, end: 10e9 }, BOUNDS, 0.5), { start: 9e9, end: 10e9 });
  const least = zoomed({ start: 500, end: 1_000 }, BOUNDS, 1e-9, 700);
  assert.ok(Math.abs(least.end - least.start - LEAST_SPAN) < 1e-6);
  assert.deepEqual(within({ start: -5e9, end: 20e9 }, BOUNDS), BOUNDS);
});

test("a range is shown with room around it", () => {
  assert.deepEqual(around({ start: 4e9, end: 5e9 }, BOUNDS, 1), { start: 3e9, end: 6e9 });
  assert.deepEqual(around({ start: 0, end: 1e9 }, BOUNDS, 1), { start: 0, end: 3e9 });
});

test("ticks stand at round times within the view", () => {
  const { step, times } = ticks({ start: 1_230_000_000, end: 1_470_000_000 }, 8);
  assert.equal(step, 50_000_000);
  assert.deepEqual(times, [1.25e9, 1.3e9, 1.35e9, 1.4e9, 1.45e9]);
});
