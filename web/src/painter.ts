// Draws the lanes of a scene on a canvas.

import { HARDWARE, type Rows } from "./columns";
import { latencies, levels } from "./counters";
import { upperBound } from "./intervals";
import { type Lane, LEVELS } from "./lanes";
import { COUNTER, type Line, PAD, ROW, RULER, TALL, topOf } from "./layout";
import { arrows, marks, outline, shade } from "./marks";
import { bands, bars, columns, isDense, isNarrow } from "./raster";
import { labelOf, type Scene, type Strip } from "./scene";
import { fitted, FONT, grid, ruler, title } from "./titles";
import { xOf } from "./view";

/** Opacity of the most predictions in flight, behind their mean, and of each layer of what was not recorded itself. */
const PALE = 0.22;
const DASHES = [4, 2];

export function paint(context: CanvasRenderingContext2D, scene: Scene): void {
  const { theme, width, height } = scene;
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, width, height);
  const pinned = scene.lines.filter((line) => line.pinned);
  const below = RULER + pinned.reduce((sum, line) => sum + line.height, 0);
  part(context, scene, inSight(scene), below, height);
  if (pinned.length) {
    part(context, scene, pinned, RULER, below);
    context.fillStyle = theme.dim;
    context.fillRect(0, below - 1, width, 1);
  }
  ruler(context, scene);
}

function inSight(scene: Scene): Line[] {
  const bottom = scene.scroll + scene.height;
  return scene.lines.filter((line) => !line.pinned && line.y + line.height > scene.scroll && line.y < bottom);
}

/** Some lines with all that is marked on them, between two heights. */
function part(context: CanvasRenderingContext2D, scene: Scene, lines: Line[], top: number, bottom: number): void {
  const { theme, gutter, width } = scene;
  const isOn = (line: Line): boolean => lines.includes(line);
  context.save();
  context.beginPath();
  context.rect(0, top - 4, width, bottom - top + 4);
  context.clip();
  context.fillStyle = theme.ground;
  context.fillRect(0, top, width, bottom - top);
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, bottom);
  context.clip();
  context.translate(gutter, 0);
  grid(context, scene);
  for (const line of lines) {
    const y = topOf(line, scene.scroll) + RULER;
    if (line.kind === "lane") lane(context, scene, scene.lanes[line.lane], y);
    if (line.kind === "counter") counter(context, scene, line.counter, y);
    if (line.kind === "strip") strip(context, scene, scene.strips[line.strip], y, line.height);
  }
  shade(context, scene);
  marks(context, scene, scene.matches, 0, 1, isOn);
  if (scene.finding) marks(context, scene, scene.finding, 0.12, 2, isOn);
  arrows(context, scene, isOn);
  if (scene.selected) outline(context, scene, scene.selected, theme.text, 2, isOn);
  context.restore();
  context.fillStyle = theme.raised;
  context.fillRect(0, top, gutter, bottom - top);
  context.fillStyle = theme.line;
  context.fillRect(gutter - 1, top, 1, bottom - top);
  for (const line of lines) title(context, scene, line, topOf(line, scene.scroll) + RULER);
  context.restore();
}

/** Where a finding's evidence lies, in the color of its severity. */
function strip(context: CanvasRenderingContext2D, scene: Scene, { covered, severity }: Strip, y: number, height: number): void {
  context.fillStyle = scene.theme.tones[severity] ?? scene.theme.mark;
  for (const [left, right] of bands(covered, scene.view, scene.width - scene.gutter)) {
    context.fillRect(left, y + height / 2 - 5, right - left, 10);
  }
}

function lane(context: CanvasRenderingContext2D, scene: Scene, drawn: Lane, top: number): void {
  const rows = scene.all[drawn.source];
  const width = Math.floor(scene.width - scene.gutter);
  const isCrowded = drawn.rows.some((row) => isDense(rows, row, scene.view, width));
  if (drawn.peak) return area(context, scene, rows, top + PAD / 2, width);
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

/** Levels or sizes, each for as long as it holds, with its value where there is room. */
function area(context: CanvasRenderingContext2D, scene: Scene, rows: Rows, top: number, width: number): void {
  const { starts, ends, sizes, categories } = rows;
  const x = (time: number): number => Math.round(Math.min(Math.max(xOf(scene.view, width, time), -2), width + 2));
  const bottom = top + TALL - 1;
  let [shown, highest] = [-1, 0];
  const block = (at: number, from: number, to: number, share: number): void => {
    const [left, right, height] = [x(from), x(to), Math.max(share * (TALL - 3), 1)];
    highest = Math.max(shown === at ? highest : 0, height);
    shown = at;
    context.fillStyle = scene.theme.categories[categories[at]];
    context.globalAlpha = PALE;
    context.fillRect(left, bottom - height, right - left, height);
    context.globalAlpha = 1;
    context.fillRect(left, bottom - height, Math.max(right - left, 1), 2);
  };
  const last = upperBound(starts, scene.view.end);
  for (let at = Math.max(upperBound(starts, scene.view.start) - 1, 0); at < last; at++) {
    if (!sizes) block(at, starts[at], ends[at], LEVELS[scene.meta.categories[categories[at]][0]]);
    for (let i = sizes ? Math.max(upperBound(sizes.times, starts[at]) - 1, 0) : 0; sizes && i < sizes.times.length && sizes.times[i] < ends[at]; i++) {
      const end = Math.min(sizes.times[i + 1] ?? ends[at], ends[at]);
      if (end > scene.view.start && end > starts[at]) block(at, Math.max(sizes.times[i], starts[at]), end, sizes.values[i] / (sizes.most || 1));
    }
    const from = Math.max(x(starts[at]), 0) + 4;
    const text = scene.meta.texts[rows.labels[at]] ?? "";
    context.fillStyle = scene.theme.text;
    // Above a low area, within a high one.
    if (fitted(context, text, x(ends[at]) - from - 2) === text) context.fillText(text, from, bottom - (highest > 18 ? 8 : highest + 7));
  }
}

function box(context: CanvasRenderingContext2D, scene: Scene, rows: Rows, at: number, left: number, right: number, y: number): void {
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
function hollow(context: CanvasRenderingContext2D, scene: Scene, rows: Rows, at: number, left: number, right: number, y: number): void {
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

function counter(context: CanvasRenderingContext2D, scene: Scene, kind: "flight" | "latency", top: number): void {
  const width = Math.floor(scene.width - scene.gutter);
  const size = COUNTER - 8;
  const bottom = top + COUNTER - 4;
  context.fillStyle = scene.theme.calls;
  if (kind === "flight") {
    const { largest, mean } = levels(scene.flight, scene.view, width, scene.calls.starts);
    const strip = (values: Float64Array, opacity: number): void => {
      context.globalAlpha = opacity;
      for (let x = 0; x < width; x++) {
        const height = (values[x] / Math.max(scene.most, 1)) * size;
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

