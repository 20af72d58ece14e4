// What is selected in full, and the statistics of a range.

import { CALL, COLD, type Finding, HARDWARE, type LaneHead, LATE, type Rows, SEVERAL, SIGNPOST, type SlowHead } from "./columns";
import { copyButton } from "./code";
import { button, el } from "./dom";
import { upperBound } from "./intervals";
import { eventOf, labelOf, predictionOf, type Scene, slowOf, timesOf } from "./scene";
import type { Match } from "./search";
import { inRange } from "./statistics";
import { ABSENT, count, counted, duration, moment, percent } from "./units";
import type { View } from "./view";

/** Most lines of statistics, and of the events in a prediction. */
const LINES = 12;
const PARTS = 6;

export type Data = Pick<Scene, "meta" | "all" | "findings" | "finding" | "accounts">;

type Facts = [string, string | HTMLElement][];
const stepping = (): (string | HTMLElement)[] => [el("kbd", {}, ","), " and ", el("kbd", {}, "."), " step through them."];

function list(facts: Facts): HTMLElement {
  return el("dl", {}, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** All that is known of a row, what leads on from it first; `go` leads to another one. */
export function describeRow(data: Data, match: Match, go: (match: Match) => void): HTMLElement {
  const rows = data.all[match.lane];
  const at = match.row;
  const { start, end } = timesOf(data, match);
  const isCall = (rows.flags[at] & CALL) > 0;
  const prediction = predictionOf(data, match);
  const model = data.meta.texts[rows.models[at]];
  const [category, kind] = data.meta.categories[rows.categories[at]];
  const slow = slowOf(data.findings, match);
  const facts: Facts = [];
  const site = slow ? null : siteOf(data, isCall || prediction ? "prediction" : category, model);
  if (site) facts.push(["code", site]);
  const found = evidenceFor(data.findings, match);
  if (found.length) {
    const links = found.map((finding) => card(finding.id, finding.id));
    facts.push(["evidence for", el("span", {}, ...links.flatMap((link, i) => (i ? [", ", link] : [link])))]);
  }
  if (model) facts.push(["model", model]);
  facts.push(["lane", data.meta.lanes[match.lane].title], ["kind", kind], ["start", moment(start, 1e3)], ["duration", duration(end - start)]);
  const rank = rankOf(rows, at);
  if (rank.count > 1) facts.push(["rank", `${count(rank.place)} of ${count(rank.count)} by duration`]);
  facts.push(...inferredFacts(rows, at));
  if (isCall) facts.push(["prediction", rows.flags[at] & COLD ? "first after a load" : "warm"]);
  if (prediction) {
    const { start: called, end: done } = timesOf(data, prediction);
    const isLate = data.meta.lanes[match.lane].id === LATE;
    facts.push([isLate ? "held up by" : "part of", button(`prediction of ${duration(done - called)} at ${moment(called)}`, () => go(prediction))]);
    if (!isLate) facts.push(["began", `${duration(start - called)} after it, ${percent((end - start) / Math.max(done - called, 1))} as long`]);
  }
  return el(
    "div",
    { class: "selected" },
    el("h3", {}, eventOf(data, rows, at)),
    slow?.slow ? describeSlow(slow.total, slow.slow) : isCall ? describeAccount(data, match) : null,
    list(facts),
    placeOf(data.finding, match),
    isCall ? insideOf(data, match) : null,
    isCall && data.accounts ? command(`tracekit why ${quoted(data.meta.source)} --at ${moment(start).replace(" s", "")}`) : null,
  );
}

/** Words that lead to the card of a finding, where the page has it. */
function card(id: string, words: string): HTMLElement {
  return document.getElementById(`finding-${id}`) ? el("a", { href: `#finding-${id}` }, words) : el("span", {}, words);
}

/** Words of ours, in which code stands between backticks. */
function marked(words: string): (string | HTMLElement)[] {
  return words.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

/** A command with a button that copies it. */
function command(words: string): HTMLElement {
  return el("p", {}, el("code", { class: "command" }, words), " ", copyButton(words));
}

function quoted(name: string): string {
  return /^[\w.\/-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

/** How much longer or shorter than a usual one a prediction took, and for what; null where its model has none. */
function describeAccount({ accounts, all }: Data, { lane, row }: Match): HTMLElement | null {
  const at = accounts ? upperBound(accounts.rows, row) - 1 : -1;
  if (!accounts || at < 0 || accounts.rows[at] !== row) return null;
  const { starts, ends, inferred } = all[lane];
  const words = (ns: number): string => (inferred && ns < 1e9 ? `${Math.round(ns / 1e6)} ms` : duration(ns));
  const [length, usual] = [ends[row] - starts[row], accounts.usual[at]];
  const parts = accounts.causes.flatMap(({ name, at: places, lengths }) => {
    const place = upperBound(places, at) - 1;
    return place >= 0 && places[place] === at ? [[name, lengths[place]] as const] : [];
  });
  const less = length < usual;
  const end = !parts.length ? `, as usual (${words(usual)})` : less ? `, ${words(usual - length)} less than usual` : ` instead of the usual ${words(usual)}`;
  const lines = parts.sort((a, b) => b[1] - a[1]).map(([name, ns]): [string, string] => [`${less ? "\u2212" : "+"}${words(ns)}`, name]);
  return el("div", { class: "why" }, el("p", {}, el("strong", {}, words(length) + end)), lines.length ? list(lines) : null);
}

/** Which code makes calls of a kind of a model, or from how many places they come; null where no sample shows it. */
function siteOf({ meta }: Data, kind: string, model: string | undefined): HTMLElement | null {
  const [wanted] = kind.split("_");
  const found = meta.sites.filter(([api, of]) => model && (of ?? model) === model && api.startsWith(wanted));
  if (!found.length) return null;
  return el("a", { href: "#code" }, found.length > 1 ? `called from one of ${found.length} places` : found[0][2]);
}

/** The events that belong to a prediction, by how long they took together. O(events in its time). */
function insideOf(data: Data, match: Match): HTMLElement | null {
  const { start, end } = timesOf(data, match);
  const sums = new Map<string, number>();
  data.meta.lanes.forEach((head, lane) => {
    const rows = data.all[lane];
    for (let at = upperBound(rows.starts, start - 1); at < rows.starts.length && rows.starts[at] < end; at++) {
      if (rows.predictions[at] !== match.row) continue;
      const name = [data.meta.texts[rows.labels[at]] ?? "unnamed event", head.title].join(" \u00b7 ");
      sums.set(name, (sums.get(name) ?? 0) + rows.ends[at] - rows.starts[at]);
    }
  });
  if (!sums.size) return null;
  const longest = [...sums].sort((a, b) => b[1] - a[1]).slice(0, PARTS);
  const share = (time: number): string => `${duration(time)}, ${percent(time / Math.max(end - start, 1))}`;
  return el("div", {}, el("h4", {}, "Events in it"), list(longest.map(([name, time]) => [name, share(time)])));
}

/** What is shown while nothing is selected: the findings, the slowest prediction or request, and how to go on. */
export function describeNothing({ meta, all, findings }: Data, mark: (id: string) => void, go: (match: Match) => void): HTMLElement {
  const line = (kind: string, title: string, then: () => void, label: string): HTMLElement => el("li", {}, badgeOf(kind), button(title, then, label));
  const length = ({ lane, row }: Match): number => all[lane].ends[row] - all[lane].starts[row];
  const entries = findings.filter(({ slow }) => !slow).map(({ id, title, severity, facts }) => {
    const entry = line(severity, title, () => mark(id), `Mark the evidence of ${id}: ${title}`);
    const said = facts.map(([name, words]): Facts[0] => [name, name === "saves" ? words : el("span", {}, ...marked(words), " ", copyButton(/\((\S+:\d+)\)/.exec(words)?.[1] ?? words))]);
    entry.append(list([...said, ["check", card(id, id)]]));
    return entry;
  });
  const [slowest] = findings.filter(({ slow }) => slow).sort((a, b) => length(b.slow!) - length(a.slow!));
  if (slowest) {
    const entry = line("slowest", slowest.title, () => mark(slowest.id), `Why the prediction of ${slowest.title} was slow`);
    // Its time and model stand in the line above.
    entry.append(el("p", {}, slowest.slow!.sentence.replace(/^.*? instead of/, "instead of")));
    entries.push(entry);
  }
  const lane = slowest ? -1 : meta.lanes.findIndex(({ title }) => title === "Request");
  const [request] = Array.from(all[lane]?.starts ?? [], (_, row) => ({ lane, row })).sort((a, b) => length(b) - length(a));
  const title = request && `Request of ${duration(length(request))} at ${moment(all[lane].starts[request.row])}`;
  if (request) entries.push(line("slowest", title, () => go(request), `Select the slowest request: ${title}`));
  const words = matchMedia("(pointer: coarse)").matches
    ? "Tap an event for its details. Drag along the axis of time to get statistics of a range."
    : "Click an event for its details. Drag along the axis of time, or with Shift, for statistics of a range. ? lists all keys.";
  return el("div", {}, entries.length ? el("ul", { class: "notes" }, ...entries) : null, el("p", { class: "dim" }, words));
}

function badgeOf(severity: string): HTMLElement {
  return el("span", { class: `badge ${severity}` }, severity);
}

/** A finding whose evidence is marked. */
export function describeFinding({ id, title, severity, total }: Finding): HTMLElement {
  return el(
    "div",
    { class: "selected" },
    el("p", {}, badgeOf(severity), card(id, title)),
    el("p", { class: "dim" }, `${counted(total, "interval")} of evidence; `, ...stepping()),
  );
}

/** Why a prediction took longer than usual, and which code called it. */
function describeSlow(total: number, { sentence, parts }: SlowHead): HTMLElement {
  const said = parts.map(([name, words]): Facts[0] => [name, name === "code" && document.getElementById("code") ? el("a", { href: "#code" }, words) : words]);
  const more = total ? el("p", { class: "dim" }, `What is behind this is outlined: ${counted(total, "interval")}; `, ...stepping()) : null;
  return el("div", { class: "why" }, el("p", {}, el("strong", {}, sentence)), list(said), more);
}

/** Which of the marked intervals a row is. */
function placeOf(finding: Finding | null, match: Match): HTMLElement | null {
  const at = finding?.slow ? finding.rows.findIndex((row, i) => row === match.row && finding.lanes[i] === match.lane) : -1;
  return at < 0 ? null : el("p", {}, `Interval ${at + 1} of ${finding!.total} behind the prediction of ${finding!.title}`);
}

/** What is known of a call that Core ML did not record; tracekit/report/inferred_calls.py says the same in Python. */
export function inferredFacts({ inferred }: Rows, at: number): [string, string][] {
  if (!inferred) return [];
  const { flags, resolution, startMin, startMax, endMin, endMax } = inferred;
  const time = (times: Float64Array): string => moment(times[at], 1e3);
  if (flags[at] & SIGNPOST) return [["recorded as", "Core ML's signpost"]];
  const facts: [string, string][] =
    flags[at] & HARDWARE
      ? [
          ["inferred from", "hardware rows"],
          ["started", `at ${time(startMax)} or before`],
          ["ended", `at ${time(endMin)} or later`],
        ]
      : [
          ["inferred from", "call stacks"],
          ["resolution", resolution],
          ["started", `${time(startMin)} to ${time(startMax)}`],
          ["ended", `${time(endMin)} to ${time(endMax)}`],
        ];
  if (flags[at] & SEVERAL) facts.push(["calls", "one or more"]);
  return facts;
}

/** Where a row stands among those of its event and model, the longest first. O(n). */
export function rankOf(rows: Rows, at: number): { place: number; count: number } {
  const length = rows.ends[at] - rows.starts[at];
  let [longer, same] = [0, 0];
  for (let i = 0; i < rows.starts.length; i++) {
    if (rows.labels[i] !== rows.labels[at] || rows.models[i] !== rows.models[at]) continue;
    same++;
    if (rows.ends[i] - rows.starts[i] > length) longer++;
  }
  return { place: longer + 1, count: same };
}

/** The findings that a row is evidence for. O(findings rows): scanned as plain numbers, which is quick. */
export function evidenceFor(findings: readonly Finding[], match: Match): Finding[] {
  return findings.filter(({ slow, lanes, rows }) => {
    if (slow) return false;
    for (let at = rows.indexOf(match.row); at >= 0; at = rows.indexOf(match.row, at + 1)) if (lanes[at] === match.lane) return true;
    return false;
  });
}

export function describeRange(data: Data, range: View): HTMLElement {
  const lines = inRange(data.meta.lanes, data.all, range);
  const shown = lines.slice(0, LINES);
  const name = (label: number, model: number): string =>
    [data.meta.texts[label] ?? "unnamed event", data.meta.texts[model]].filter(Boolean).join(" \u00b7 ");
  const titles = ["count", "sum", "mean", "p50", "p95", "max"];
  return el(
    "div",
    { class: "statistics" },
    el("h3", {}, `Range of ${duration(range.end - range.start)} from ${moment(range.start, 1e3)}`),
    el("p", { class: "dim" }, `${counted(lines.reduce((sum, line) => sum + line.count, 0), "event")} starting in it`),
    lines.length
      ? table(
          titles,
          shown.flatMap(({ sum, mean, p50, p95, max, ...line }) => [
            named(name(line.label, line.model), line.lane),
            [count(line.count), ...[sum, mean, p50, p95, max].map((value) => (value === null ? ABSENT : duration(value)))],
          ]),
          "Statistics of the range",
          0,
        )
      : null,
    lines.length > LINES ? el("p", { class: "dim" }, `${count(lines.length - LINES)} more with less time`) : null,
  );
}

/** The longest rows in view as a table: what a screen reader gets of the drawing. O(rows in view). */
export function describeView(data: Data, view: View, most = 50): HTMLElement {
  let [longest, total]: [{ head: LaneHead; rows: Rows; at: number; length: number }[], number] = [[], 0];
  let least = -1;
  const shorten = (): void => {
    longest = longest.sort((a, b) => b.length - a.length).slice(0, most);
    least = longest.length < most ? -1 : longest[most - 1].length;
  };
  data.meta.lanes.forEach((head, lane) => {
    const rows = data.all[lane];
    const { starts, ends } = rows;
    for (let at = 0; at < starts.length && starts[at] < view.end; at++) {
      if (ends[at] < view.start) continue;
      total++;
      if (ends[at] - starts[at] <= least) continue;
      longest.push({ head, rows, at, length: ends[at] - starts[at] });
      if (longest.length > 20 * most) shorten();
    }
  });
  shorten();
  return el(
    "div",
    { class: "in-view" },
    el("h3", {}, "Events in view"),
    el("p", { class: "dim" }, `${counted(total, "event")}; the ${longest.length} longest`),
    table(
      ["event", "start", "duration"],
      longest.map(({ head, rows, at, length }) => [named(labelOf(data, rows, at), head.title), moment(rows.starts[at], 1e3), duration(length)]),
      `Longest events in view of ${data.meta.source}`,
      1,
    ),
  );
}

/** What an event is called, and its lane. */
function named(event: string, lane: string): HTMLElement {
  return el("span", {}, `${event} `, el("span", { class: "dim" }, lane));
}

/** Rows of cells below their titles; an element alone is the heading of what is below it. */
function table(titles: string[], rows: (HTMLElement | (string | HTMLElement)[])[], name: string, words: number): HTMLElement {
  const kind = (index: number): string | null => (index < words ? null : "n");
  const row = (cells: (typeof rows)[0]): HTMLElement =>
    cells instanceof HTMLElement
      ? el("tr", { class: "group" }, el("th", { scope: "rowgroup", colspan: titles.length }, cells))
      : el("tr", {}, ...cells.map((cell, i) => el("td", { class: kind(i) }, cell)));
  const grid = el(
    "table",
    { "aria-label": name },
    el("thead", {}, el("tr", {}, ...titles.map((title, i) => el("th", { scope: "col", class: kind(i) }, title)))),
    el("tbody", {}, ...rows.map(row)),
  );
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, grid);
}
