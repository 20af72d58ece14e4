// Tables of the page that can be sorted by a column and searched.

import { button, el } from "./dom";
import { gather } from "./lanes";
import { ABSENT, count } from "./units";

/** Least rows of a table that it is worth to sort or to search. */
const SORTED = 3;
const SEARCHED = 6;

export function prepare(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  if (!body || body.rows.length < SORTED || !table.hasAttribute("data-filter")) return;
  if (table.classList.contains("heat")) shade(table);
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const [group] = groupsOf(table);
  heads.forEach((head, column) => {
    if (!head.textContent && !group) return;
    if (!head.textContent) head.append("model");
    const label = group && (column ? `Sort models by ${group[1].cells[0].textContent} in ${head.textContent}` : "Sort by model");
    const sorter = button("", () => sort(table, heads, column), label);
    sorter.className = "sorter";
    sorter.append(...head.childNodes);
    head.append(sorter);
  });
  if (body.rows.length >= SEARCHED) addSearch(table);
}

/** Marks cells without a value, which a phone leaves out, and shades numbers by their place between the least and the largest of their column, among rows of the same model. */
function shade(table: HTMLTableElement): void {
  const columns = new Map<string, [HTMLTableCellElement, number][]>();
  for (const row of table.tBodies[0].rows) {
    for (const cell of row.cells) cell.classList.toggle("absent", cell.textContent === ABSENT);
    for (const cell of row.querySelectorAll<HTMLTableCellElement>("td.n[data-v]")) {
      gather(columns, `${cell.cellIndex} ${row.cells[0].textContent}`, [cell, Number(cell.dataset.v)]);
    }
  }
  for (const cells of columns.values()) {
    const values = cells.map(([, value]) => value);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    for (const [cell, value] of most > least ? cells : []) {
      const share = Math.round(((value - least) / (most - least)) * 20);
      cell.style.background = `color-mix(in srgb, var(--c-prediction) ${share}%, transparent)`;
    }
  }
}

/** Rows of models, each below its heading; empty where a table has none. Within a model nothing is sorted: milliseconds do
 * not compare with shares. */
function groupsOf(table: HTMLTableElement): HTMLTableRowElement[][] {
  const groups: HTMLTableRowElement[][] = [];
  for (const row of table.tBodies[0].rows) {
    if (row.classList.contains("group")) groups.push([row]);
    else groups[groups.length - 1]?.push(row);
  }
  return groups;
}

function sort(table: HTMLTableElement, heads: readonly HTMLTableCellElement[], column: number): void {
  const head = heads[column];
  const isNumber = head.classList.contains("n");
  const now = head.getAttribute("aria-sort");
  // Numbers are first shown from the largest on, words from A on.
  const direction = now ? (now === "ascending" ? "descending" : "ascending") : isNumber ? "descending" : "ascending";
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const groups = groupsOf(table);
  const sorted = groups.length ? groups : [...body.rows].map((row) => [row]);
  // Models by their names, or by the first figure below these.
  const by = groups.length && column ? 1 : 0;
  const keyed = sorted.map((rows) => ({ rows, key: keyOf(rows[by].cells[column], isNumber) }));
  keyed.sort((a, b) => compare(a.key, b.key, sign));
  body.append(...keyed.flatMap(({ rows }) => rows));
}

/** What a cell is sorted by; null for a number that is not there, which stays below all others. */
function keyOf(cell: HTMLTableCellElement, isNumber: boolean): number | string | null {
  const value = cell.getAttribute("data-v");
  if (value !== null) return Number(value);
  const text = cell.textContent ?? "";
  if (!isNumber) return text.toLowerCase();
  const number = Number.parseFloat(text.replaceAll(",", "").replace(/^[^\d.-]*/, ""));
  return Number.isNaN(number) ? null : number;
}

export function compare(a: number | string | null, b: number | string | null, sign: number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return (a < b ? -1 : a > b ? 1 : 0) * sign;
}

function addSearch(table: HTMLTableElement): void {
  const name = table.getAttribute("aria-label") ?? "table";
  const found = el("span", { class: "dim", role: "status" });
  const input = el("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${name}` });
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let [shown, all] = [0, 0];
    let heading: HTMLTableRowElement | undefined;
    for (const row of table.tBodies[0].rows) {
      const has = (each?: HTMLElement): boolean => (each?.textContent ?? "").toLowerCase().includes(wanted);
      row.hidden = !(has(row) || has(heading));
      if (row.classList.contains("group")) {
        [heading, row.hidden] = [row, true];
        continue;
      }
      if (heading && !row.hidden) heading.hidden = false;
      all++;
      if (!row.hidden) shown++;
    }
    found.textContent = wanted ? `${count(shown)} of ${count(all)}` : "";
  });
  (table.closest(".scroll") ?? table).before(el("p", { class: "filter" }, input, found));
}
