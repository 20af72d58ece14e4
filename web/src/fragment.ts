// What the end of the address says: `#finding=<id>` marks evidence, `#range=<start>-<end>` is a part of time (in ns),
// `#view=<start>-<end>` what is in view, `#event=<lane>-<row>` is selected, `#find=<words>` searched.

import type { Match } from "./search";
import type { View } from "./view";

export interface Place {
  finding?: string;
  range?: View;
  view?: View;
  event?: Match;
  find?: string;
}

const text = (value: string): string => decodeURIComponent(value.replace(/%(?![\da-f]{2})/gi, "%25"));

export function parsed(fragment: string): Place {
  const place: Place = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [key, value] = [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)];
    if (key === "finding" || key === "find") place[key] = text(value);
    const [, first, second] = (/^(-?\d{1,15})-(-?\d{1,15})$/.exec(value) ?? []).map(Number);
    if ((key === "range" || key === "view") && first < second) place[key] = { start: first, end: second };
    if (key === "event" && first >= 0 && second >= 0) place.event = { lane: first, row: second };
  }
  return place;
}

export function written(place: Place): string {
  const parts: string[] = [];
  if (place.finding !== undefined) parts.push(`finding=${encodeURIComponent(place.finding)}`);
  for (const key of ["range", "view"] as const) {
    const times = place[key];
    if (times) parts.push(`${key}=${Math.round(times.start)}-${Math.round(times.end)}`);
  }
  if (place.event) parts.push(`event=${place.event.lane}-${place.event.row}`);
  if (place.find) parts.push(`find=${encodeURIComponent(place.find)}`);
  return parts.length ? `#${parts.join("&")}` : "";
}
