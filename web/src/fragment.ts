// What the end of the address says: `#finding=<id>` marks evidence, `#range=<start>-<end>` shows a part of time (in ns).

import type { View } from "./view";

export interface Place {
  finding?: string;
  range?: View;
}

export function parsed(fragment: string): Place {
  const place: Place = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [key, value] = [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)];
    if (key === "finding") place.finding = decodeURIComponent(value.replace(/%(?![\da-f]{2})/gi, "%25"));
    const times = key === "range" ? /^(-?\d{1,15})-(-?\d{1,15})$/.exec(value) : null;
    if (times && Number(times[1]) < Number(times[2])) place.range = { start: Number(times[1]), end: Number(times[2]) };
  }
  return place;
}

export function written(place: Place): string {
  const parts: string[] = [];
  if (place.finding !== undefined) parts.push(`finding=${encodeURIComponent(place.finding)}`);
  if (place.range) parts.push(`range=${Math.round(place.range.start)}-${Math.round(place.range.end)}`);
  return parts.length ? `#${parts.join("&")}` : "";
}
