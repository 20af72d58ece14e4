// What stands around the lanes: their titles, the axis of time and its grid.

import { type Line, PAD, ROW, RULER, stripOf } from "./layout";
import type { Scene } from "./scene";
import { axis, duration } from "./units";
import { ticks, xOf } from "./view";

export const FONT = "11px system-ui, sans-serif";
/** Two lines of a long title. */
const FOLD = /^.{1,14}[- ]|.+/g;

export function grid(context: CanvasRenderingContext2D, scene: Scene): void {
  const width = scene.width - scene.gutter;
  context.fillStyle = scene.theme.line;
  for (const time of ticks(scene.view, width / 90).times) {
    context.fillRect(Math.round(xOf(scene.view, width, time)), RULER, 1, scene.height);
  }
}

/** The title of a line, at the left of it. */
export function title(context: CanvasRenderingContext2D, scene: Scene, line: Line, y: number): void {
  const { theme, gutter } = scene;
  if (line.kind === "head") {
    context.fillStyle = theme.raised;
    context.fillRect(0, y, scene.width, line.height);
    context.fillStyle = theme.dim;
    context.font = `600 ${FONT}`;
    context.fillText(fitted(context, line.text, scene.width - 16), 8, y + line.height / 2 + 1);
    context.font = FONT;
    return;
  }
  context.fillStyle = theme.line;
  context.fillRect(0, y + line.height - 0.5, scene.width, 0.5);
  context.fillStyle = theme.text;
  if (line.kind === "lane") {
    const { title, section } = scene.lanes[line.lane];
    // Away from its section, a lane says whose it is where others have its title.
    const whose = scene.lanes.some((each) => each.title === title && each.section !== section) ? ` \u00b7 ${section}` : "";
    const name = line.pinned ? `\u21a5 ${title}${whose}` : title;
    context.fillText(fitted(context, name, gutter - 12), 8, y + Math.min(line.height, ROW + PAD) / 2);
    const { peak } = scene.lanes[line.lane];
    if (!peak) return;
    context.fillStyle = theme.dim;
    context.fillText(fitted(context, peak, gutter - 12), 8, y + 25);
  } else if (line.kind === "strip") {
    const { title, severity } = scene.strips[line.strip];
    context.fillStyle = theme.tones[severity] ?? theme.mark;
    const words = line.height > stripOf("", gutter) ? (title.match(FOLD) ?? []) : [title];
    words.forEach((text, i) => context.fillText(fitted(context, text, gutter - 12), 8, y + line.height / 2 + (i - (words.length - 1) / 2) * 12));
  } else {
    const most = line.counter === "flight" ? String(scene.most) : duration(scene.longest);
    const title = line.counter === "flight" ? "In flight" : "Latency";
    context.fillText(fitted(context, title, gutter - 12), 8, y + 11);
    context.fillStyle = theme.dim;
    context.fillText(fitted(context, `0 to ${most}`, gutter - 12), 8, y + 25);
  }
}

export function ruler(context: CanvasRenderingContext2D, scene: Scene): void {
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

/** The text, cut where it is too wide, after the quick width of digits; empty where not even a few letters fit. */
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  const each = (widths.get(context.font) ?? measured(context)) || 6;
  const letters = Math.floor(room / each);
  if (letters >= text.length || context.measureText(text).width <= room) return text;
  return letters < 4 ? "" : `${text.slice(0, letters - 1)}\u2026`;
}

const widths = new Map<string, number>();

function measured(context: CanvasRenderingContext2D): number {
  const width = context.measureText("0123456789").width / 10;
  widths.set(context.font, width);
  return width;
}
