// The pictures of a history: what the build at the pointer is. It leads to its report.

import { el } from "./dom";

type Build = readonly [name: string, report: string];

export function trends(): void {
  const named = document.getElementById("history-builds");
  if (!named) return;
  const builds = JSON.parse(named.textContent ?? "") as Build[][];
  const tip = el("div", { class: "tip trend", role: "status", hidden: true });
  document.body.append(tip);
  for (const svg of document.querySelectorAll<SVGSVGElement>("svg.trend")) {
    follow(svg, builds[Number(svg.dataset.builds)], tip);
  }
}

function follow(svg: SVGSVGElement, builds: readonly Build[], tip: HTMLElement): void {
  const link = el("a", { tabindex: 0, "aria-label": `${svg.ariaLabel}; arrow keys go through them` });
  svg.replaceWith(link);
  link.append(svg);
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "path");
  mark.setAttribute("class", "build");
  const across = svg.viewBox.baseVal.width;
  let points: { at: number; value: string; words: string; place: string; y: number }[] = [];
  let shown = -1;

  const read = (): void => {
    if (points.length) return;
    const values = (svg.dataset.values ?? "").split("|");
    const line = svg.querySelector(".line")?.getAttribute("d") ?? "";
    points = [...line.matchAll(/[ML](\d+) ([\d.]+)/g)].map(([, at, y], index) => ({
      at: Number(at),
      value: values[index],
      words: `${svg.dataset.joined ?? ""}${builds[Number(at)][0]}: ${values[index]}`,
      place: `M${at} ${y}h0`,
      y: Number(y),
    }));
  };
  // Small pictures have their newest value beside them, and no room.
  if (!svg.closest("#trends")) {
    read();
    const [highest, lowest] = [Math.min, Math.max].map((extreme) => points.find(({ y }) => y === extreme(...points.map((point) => point.y))));
    const day = (index: number): string => builds[index][0].split(" ")[0];
    const y = el("span", { class: "ends y" }, ...(highest === lowest ? [highest] : [highest, lowest]).map((point) => el("span", {}, point?.value ?? "")));
    const axes = el("span", { class: "axes" }, y);
    link.replaceWith(axes);
    axes.append(link, el("span", { class: "ends x" }, el("span", {}, day(0)), el("span", {}, builds.length > 1 ? day(builds.length - 1) : "")));
  }
  const show = (index: number): void => {
    shown = index;
    const { at, words, place, y } = points[index];
    mark.setAttribute("d", place);
    svg.append(mark);
    const report = builds[at][1];
    if (report) link.href = report;
    else link.removeAttribute("href");
    tip.textContent = words;
    tip.hidden = false;
    const { left, top, width, height } = svg.getBoundingClientRect();
    const x = Math.min(left + (at / across) * width + 12, document.documentElement.clientWidth - tip.offsetWidth - 4);
    tip.style.transform = `translate(${Math.max(x, 0)}px, ${top + (y / 40) * height + 12}px)`;
  };
  const hide = (): void => {
    shown = -1;
    mark.remove();
    tip.hidden = true;
  };
  svg.addEventListener("pointermove", (event) => {
    read();
    const { left, width } = svg.getBoundingClientRect();
    const at = ((event.clientX - left) / width) * across;
    const distance = (index: number): number => Math.abs(points[index].at - at);
    show(points.reduce((best, _, index) => (distance(index) < distance(best) ? index : best), 0));
  });
  link.addEventListener("focus", () => {
    read();
    if (shown < 0) show(points.length - 1);
  });
  link.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(Math.min(Math.max(shown + step, 0), points.length - 1));
  });
  link.addEventListener("blur", hide);
  svg.addEventListener("pointerleave", hide);
}
