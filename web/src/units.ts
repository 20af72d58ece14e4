// Numbers as the report writes them (tracekit/units.py and tracekit/report/formatting.py say the same in Python).

export const ABSENT = "\u2013";

const UNITS: readonly (readonly [number, string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "\u00b5s"],
];

/** A duration with three significant digits. */
export function duration(ns: number): string {
  const [size, unit] = UNITS.find(([least]) => Math.abs(ns) >= least * 0.9995) ?? [1, "ns"];
  const magnitude = Math.abs(ns / size);
  const digits = size === 1 || magnitude >= 99.95 ? 0 : magnitude < 9.995 ? 2 : 1;
  return `${grouped((ns / size).toFixed(digits))} ${unit}`;
}

/** Time since the start of the run, in seconds, from a minute on as `mm:ss`, with as many decimals as a step of this size
 * needs, three at least. */
export function moment(ns: number, step = 1e6): string {
  const decimals = Math.min(Math.max(Math.ceil(-Math.log10(step / 1e9)), 3), 9);
  const sign = ns < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(ns) / 1e9);
  const part = Math.floor((Math.abs(ns) % 1e9) / 10 ** (9 - decimals));
  const fraction = String(part).padStart(decimals, "0");
  if (whole < 60) return `${sign}${whole}.${fraction} s`;
  const hours = Math.floor(whole / 3600);
  const minutes = String(Math.floor(whole / 60) % 60).padStart(2, "0");
  const seconds = String(whole % 60).padStart(2, "0");
  return `${sign}${hours ? `${hours}:` : ""}${minutes}:${seconds}.${fraction}`;
}

/** A time on an axis: seconds, with the decimals that a step needs. */
export function axis(ns: number, step: number): string {
  const decimals = Math.min(Math.max(Math.ceil(-Math.log10(step / 1e9) - 1e-9), 0), 9);
  return `${(ns / 1e9).toFixed(decimals)} s`;
}

export function count(value: number): string {
  return grouped(String(value));
}

/** A comma before each three digits of the whole number. A browser's own way loads its tables of all languages first. */
function grouped(digits: string): string {
  return digits.replace(/(?<!\..*)\B(?=(\d{3})+(?!\d))/g, ",");
}

export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : noun.endsWith("h") ? "es" : "s"}`;
}

/** A size with three significant digits. */
export function bytes(size: number): string {
  const unit = Math.min(Math.max(Math.floor(Math.log10(Math.max(size, 1) * 1.0005) / 3), 0), 4);
  const value = size / 1000 ** unit;
  return unit ? `${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${"KMGT"[unit - 1]}B` : counted(size, "byte");
}

/** A share in whole percent. */
export function percent(share: number): string {
  return share > 0 && share < 0.01 ? "<1%" : `${count(Math.round(share * 100))}%`;
}
