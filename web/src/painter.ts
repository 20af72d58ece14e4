// Draws the lanes of a scene on a canvas.

import { type Finding, HARDWARE, type Marks, type Meta, type Rows } from "./columns";
import { type Calls, latencies, levels, type Steps } from "./counters";
import { Covered, upperBound } from "./intervals";
import type { Lane, Places } from "./lanes";
import { COUNTER, type Line, PAD, ROW, RULER } from "./layout";
import { bands, bars, columns, isDense, isNarrow } from "./raster";
import type { Match } from "./search";
import type { Theme } from "./theme";
import { axis, duration } from "./units";
import { ticks, type View, xOf } from "./view";

/** The time that marks cover. */
export interface Covering {
  covered: Covered;
}

export function covering<T extends Marks>(marks: T): T & Covering {
  return { ...marks, covered: Covered.of(marks.starts, marks.ends) };
}

export interface Scene {
  meta: Meta;
  all: Rows[];
  findings: Finding[];
  lanes: Lane[];
  places: Places;
  calls: Calls;
  flight: Steps;
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

export const FONT = "11px system-ui, sans-serif";
/** Most marks in view that are outlined each; of more, lanes are nothing but outlines. */
const OUTLINED = 2_000;
/** Opacity of the most predictions in flight, behind their mean, and of each layer of what was not recorded itself. */
const PALE = 0.22;
const DASHES = [4, 2];

export function paint(context: CanvasRenderingContext2D, scene: Scene): void {
  const { theme, gutter, width, height } = scene;
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, height);
  context.clip();
  context.translate(gutter, 0);
  grid(context, scene);
  for (const line of inSight(scene)) {
    const y = line.y - scene.scroll + RULER;
    if (line.kind === "lane") lane(context, scene, scene.lanes[line.lane], y);
    if (line.kind === "counter") counter(context, scene, line.counter, y);
  }
  range(context, scene);
  marks(context, scene, scene.matches, 0, 1);
  if (scene.finding) marks(context, scene, scene.finding, 0.12, 2);
  if (scene.selected) outline(context, scene, scene.selected, theme.text, 2);
  context.restore();
  titles(context, scene);
  ruler(context, scene);
}

function inSight(scene: Scene): Line[] {
  const bottom = scene.scroll + scene.height;
  return scene.lines.filter((line) => line.y + line.height > scene.scroll && line.y < bottom);
}

function grid(context: CanvasRenderingContext2D, scene: Scene): void {
  const width = scene.width - scene.gutter;
  context.fillStyle = scene.theme.line;
  for (const time of ticks(scene.view, width / 90).times) {
    context.fillRect(Math.round(xOf(scene.view, width, time)), RULER, 1, scene.height);
  }
}

function lane(context: CanvasRenderingContext2D, scene: Scene, drawn: Lane, top: number): void {
  const rows = scene.all[drawn.source];
  const width = Math.floor(scene.width - scene.gutter);
  const isCrowded = drawn.rows.some((row) => isDense(rows, row, scene.view, width));
  drawn.rows.forEach((row, number) => {
    const y = top + PAD / 2 + number * ROW;
    if (y > scene.height || y + ROW < RULER) return;
    const single = bars(rows, row, scene.view, width);
    // Beside shares of time, a bar as high as the row would look like more than its own share.
    if (single && !(isCrowded && isNarrow(single))) {
      for (const bar of single) box(context, scene, rows, bar.at, bar.left, bar.right, y);
      return;
    }
    const shares = columns(row, scene.view, width);
    const bottoms = new Float64Array(width).fill(y + ROW - 1);
    const rooms = new Float64Array(width).fill(ROW - 2);
    row.parts.forEach((_, part) => {
      for (let column = 0; column < width; column++) if (shares[part * width + column]) rooms[column]--;
    });
    row.parts.forEach(({ category }, part) => {
      context.fillStyle = scene.theme.categories[category];
      for (let column = 0; column < width; column++) {
        const share = shares[part * width + column];
        if (!share) continue;
        // A pixel for each category that is on, however short, and the rest by share: none hides another one.
        const size = 1 + share * rooms[column];
        context.fillRect(column, bottoms[column] - size, 1, size);
        bottoms[column] -= size;
      }
    });
  });
}

function box(
  context: CanvasRenderingContext2D,
  scene: Scene,
  rows: Rows,
  at: number,
  left: number,
  right: number,
  y: number,
): void {
  const category = rows.categories[at];
  // A gap of a pixel keeps neighbors apart.
  const wide = right - left > 3 ? right - left - 1 : right - left;
  context.fillStyle = scene.theme.categories[category];
  const isOutlined = wide > 3 && scene.meta.outlined.includes(category);
  if (isOutlined) hollow(context, scene, rows, at, left, left + wide, y);
  else context.fillRect(left, y + 1, wide, ROW - 2);
  if (wide < 26) return;
  const from = Math.max(left, 0) + 4;
  const text = fitted(context, labelOf(scene, rows, at), Math.min(right, scene.width - scene.gutter) - from - 4);
  if (!text) return;
  context.fillStyle = isOutlined ? scene.theme.text : scene.theme.inks[category];
  context.fillText(text, from, y + ROW / 2 + 0.5);
}

/** The bar of what was not recorded itself: pale and outlined, with paler ends where it may have been on or not. */
function hollow(
  context: CanvasRenderingContext2D,
  scene: Scene,
  rows: Rows,
  at: number,
  left: number,
  right: number,
  y: number,
): void {
  const { inferred } = rows;
  // Hardware does not show when a call began and ended, so there are no ends to draw.
  const ends = inferred && !(inferred.flags[at] & HARDWARE) ? inferred : null;
  const x = (time: number): number =>
    Math.min(Math.max(xOf(scene.view, scene.width - scene.gutter, time), -4), scene.width + 4);
  const [from, to] = ends ? [Math.min(left, x(ends.startMin[at])), Math.max(right, x(ends.endMax[at]))] : [left, right];
  const [first, last] = ends ? [Math.max(left, x(ends.startMax[at])), Math.min(right, x(ends.endMin[at]))] : [left, right];
  context.globalAlpha = PALE;
  context.fillRect(from, y + 1, to - from, ROW - 2);
  if (last > first) context.fillRect(first, y + 1, last - first, ROW - 2);
  context.globalAlpha = 1;
  context.strokeStyle = context.fillStyle;
  context.lineWidth = 1;
  context.setLineDash(DASHES);
  context.strokeRect(left + 0.5, y + 1.5, right - left - 1, ROW - 3);
  context.setLineDash([]);
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

/** The text, cut where it is too wide; empty where not even a few letters fit. Widths are taken as those of digits,
 * which is quick and hardly ever too narrow. */
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  const each = (widths.get(context.font) ?? measured(context)) || 6;
  const letters = Math.floor(room / each);
  if (letters >= text.length) return text;
  return letters < 4 ? "" : `${text.slice(0, letters - 1)}\u2026`;
}

const widths = new Map<string, number>();

function measured(context: CanvasRenderingContext2D): number {
  const width = context.measureText("0123456789").width / 10;
  widths.set(context.font, width);
  return width;
}

function counter(context: CanvasRenderingContext2D, scene: Scene, kind: "flight" | "latency", top: number): void {
  const width = Math.floor(scene.width - scene.gutter);
  const size = COUNTER - 8;
  const bottom = top + COUNTER - 4;
  context.fillStyle = scene.theme.calls;
  if (kind === "flight") {
    const { largest, mean } = levels(scene.flight, scene.view, width);
    const strip = (values: Float64Array, opacity: number): void => {
      context.globalAlpha = opacity;
      for (let x = 0; x < width; x++) {
        const height = (values[x] / Math.max(scene.flight.most, 1)) * size;
        if (height) context.fillRect(x, bottom - height, 1, height);
      }
    };
    strip(largest, PALE);
    strip(mean, 1);
  } else {
    const { low, high } = latencies(scene.calls, scene.view, width);
    for (let x = 0; x < width; x++) {
      if (!high[x]) continue;
      const up = (high[x] / scene.longest) * size;
      const down = (low[x] / scene.longest) * size;
      context.fillRect(x - 0.5, bottom - up, 2, Math.max(up - down, 2));
    }
  }
  context.fillStyle = scene.theme.line;
  context.fillRect(0, bottom, width, 1);
}

function range(context: CanvasRenderingContext2D, scene: Scene): void {
  if (!scene.range) return;
  const width = scene.width - scene.gutter;
  const [left, right] = [xOf(scene.view, width, scene.range.start), xOf(scene.view, width, scene.range.end)];
  context.globalAlpha = 0.14;
  context.fillStyle = scene.theme.accent;
  context.fillRect(left, 0, right - left, scene.height);
  context.globalAlpha = 1;
  context.fillRect(left, 0, 1, scene.height);
  context.fillRect(right, 0, 1, scene.height);
}

/** Marks below the axis, bands of some opacity over all lanes, and outlines of the bars themselves. */
function marks(
  context: CanvasRenderingContext2D,
  scene: Scene,
  marked: Marks & Covering,
  opacity: number,
  thick: number,
): void {
  const { view, theme } = scene;
  context.fillStyle = theme.mark;
  for (const [left, right] of bands(marked.covered, view, scene.width - scene.gutter)) {
    context.globalAlpha = opacity;
    context.fillRect(left, RULER, right - left, scene.height);
    context.globalAlpha = 1;
    context.fillRect(left, RULER - 4, right - left, 4);
  }
  const { starts, ends, lanes, rows, covered } = marked;
  // What is seen stands in pieces that are seen, and starts no earlier than the first of them.
  const first = covered.starts[Math.max(upperBound(covered.starts, view.start) - 1, 0)];
  const [low, high] = [upperBound(starts, first - 1), upperBound(starts, view.end)];
  if (high - low > OUTLINED) return;
  for (let i = low; i < high; i++) {
    if (lanes[i] >= 0 && ends[i] >= view.start) outline(context, scene, { lane: lanes[i], row: rows[i] }, theme.mark, thick);
  }
}

function outline(context: CanvasRenderingContext2D, scene: Scene, match: Match, color: string, thick: number): void {
  const rows = scene.all[match.lane];
  const line = scene.lines.find(
    (each) => each.kind === "lane" && each.lane === scene.places.lane[match.lane][match.row],
  );
  if (!line) return;
  const width = scene.width - scene.gutter;
  const y = line.y - scene.scroll + RULER + PAD / 2 + scene.places.row[match.lane][match.row] * ROW;
  const left = Math.max(xOf(scene.view, width, rows.starts[match.row]), -4);
  const right = Math.min(xOf(scene.view, width, rows.ends[match.row]), width + 4);
  context.strokeStyle = color;
  context.lineWidth = thick;
  context.strokeRect(left, y + 0.5, Math.max(right - left - 1, 2), ROW - 1);
}

function titles(context: CanvasRenderingContext2D, scene: Scene): void {
  const { theme, gutter, height } = scene;
  context.fillStyle = theme.raised;
  context.fillRect(0, 0, gutter, height);
  for (const line of inSight(scene)) {
    const y = line.y - scene.scroll + RULER;
    if (line.kind === "head") {
      context.fillStyle = theme.raised;
      context.fillRect(0, y, scene.width, line.height);
      context.fillStyle = theme.dim;
      context.font = `600 ${FONT}`;
      context.fillText(fitted(context, line.text, scene.width - 16), 8, y + line.height / 2 + 1);
      context.font = FONT;
      continue;
    }
    context.fillStyle = theme.line;
    context.fillRect(0, y + line.height - 0.5, scene.width, 0.5);
    context.fillStyle = theme.text;
    if (line.kind === "lane") {
      const [name, first] = [scene.lanes[line.lane].title, Math.min(line.height, ROW + PAD)];
      context.fillText(fitted(context, name, gutter - 12), 8, y + first / 2);
    } else {
      const most = line.counter === "flight" ? String(scene.flight.most) : duration(scene.longest);
      const title = line.counter === "flight" ? "In flight" : "Latency";
      context.fillText(fitted(context, title, gutter - 12), 8, y + 11);
      context.fillStyle = theme.dim;
      context.fillText(fitted(context, `max ${most}`, gutter - 12), 8, y + 25);
    }
  }
  context.fillStyle = theme.line;
  context.fillRect(gutter - 1, 0, 1, height);
}

function ruler(context: CanvasRenderingContext2D, scene: Scene): void {
  const { theme, gutter } = scene;
  const width = scene.width - gutter;
  context.fillStyle = theme.raised;
  context.fillRect(0, 0, scene.width, RULER - 4);
  context.fillStyle = theme.line;
  context.fillRect(0, RULER - 1, scene.width, 1);
  const { step, times } = ticks(scene.view, width / 90);
  context.fillStyle = theme.dim;
  for (const time of times) {
    const x = gutter + xOf(scene.view, width, time);
    context.fillRect(Math.round(x), RULER - 8, 1, 8);
    const text = axis(time, step);
    if (x + 4 + context.measureText(text).width < scene.width) context.fillText(text, x + 4, RULER / 2 - 1);
  }
}
