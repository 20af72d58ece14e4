// Loads a report and moves around in it; prints times in ms and memory in MB as JSON. Called by
// benchmarks/html_report.py.
//
//     node measure.mjs CHROMIUM FILE
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file] = process.argv.slice(2);
const LOADS = 3;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
// A browser that has just been started is busy with pages of its own.
await (await browser.newPage()).waitForTimeout(2_000);

async function opened() {
  // A context of its own has a process of its own.
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error(String(error)));
  await page.addInitScript(() => {
    new PerformanceObserver((list) => {
      window.painted = list.getEntries().find(({ name }) => name === "first-contentful-paint")?.startTime;
    }).observe({ type: "paint", buffered: true });
    addEventListener("DOMContentLoaded", () => {
      const host = document.getElementById("lanes");
      new MutationObserver(() => requestAnimationFrame(() => (window.drawn ??= performance.now()))).observe(host, {
        attributes: true,
        attributeFilter: ["data-ready"],
      });
    });
  });
  await page.goto(pathToFileURL(file).href, { timeout: 60_000 });
  await page.waitForFunction(() => window.drawn, undefined, { timeout: 60_000 });
  return page;
}

/** Times from a key to the end of its drawing, and to the frame after it, by what the lanes are apart by. */
const moved = (page) =>
  page.evaluate(async () => {
    document.querySelector(".tools").scrollIntoView();
    const canvas = document.querySelector("canvas.lanes");
    const frame = () => new Promise((done) => requestAnimationFrame(() => done(performance.now())));
    const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const choose = (select, index) => {
      select.selectedIndex = index;
      select.dispatchEvent(new Event("change"));
    };
    // All evidence of a finding is marked meanwhile.
    choose(document.querySelector("select[aria-label^='Mark the evidence']"), 1);
    const times = [];
    for (const grouping of [0, 1, 2]) {
      choose(document.querySelector("select[aria-label='Lanes']"), grouping);
      press("0");
      const keys = [..."wwwwwwwwwwddddddaaaaaassssssssss"];
      for (const key of [...keys, ...keys, ...keys]) {
        await frame();
        const begin = performance.now();
        press(key);
        // This callback runs after that of the drawing, in the same frame.
        const end = await frame();
        times.push(end - begin);
      }
    }
    return times;
  });

const session = await browser.newBrowserCDPSession();
const [painted, drawn, redraws, memory] = [[], [], [], []];
for (let load = 0; load < LOADS; load++) {
  const page = await opened();
  const times = await page.evaluate(() => ({ painted: window.painted, drawn: window.drawn }));
  painted.push(times.painted);
  drawn.push(times.drawn);
  redraws.push(...(await moved(page)));
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const held = ({ id }) => /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))[1] / 1024;
  memory.push(Math.max(...processInfo.filter(({ type }) => type === "renderer").map(held)));
  await page.context().close();
}
redraws.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    painted,
    drawn,
    median: redraws[Math.floor(redraws.length / 2)],
    p95: redraws[Math.floor(redraws.length * 0.95)],
    longest: redraws.at(-1),
    memory,
  }),
);
await browser.close();
