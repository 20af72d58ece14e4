// Loads a report and moves around in it; prints times in ms and memory in MB as JSON. Called by
// benchmarks/html_report.py.
//
//     node measure.mjs CHROMIUM FILE
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
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
const { painted, drawn } = await page.evaluate(() => ({ painted: window.painted, drawn: window.drawn }));

/** Times from a key to the end of its drawing, and to the frame after it. */
const redraws = await page.evaluate(async () => {
  document.querySelector(".tools").scrollIntoView();
  const canvas = document.querySelector("canvas.lanes");
  const frame = () => new Promise((done) => requestAnimationFrame(() => done(performance.now())));
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  // All evidence of a finding is marked meanwhile.
  const finding = document.querySelector("select[aria-label^='Mark the evidence']");
  finding.selectedIndex = 1;
  finding.dispatchEvent(new Event("change"));
  press("0");
  const times = [];
  const keys = [..."wwwwwwwwwwddddddaaaaaassssssssss"];
  for (const key of [...keys, ...keys, ...keys]) {
    await frame();
    const begin = performance.now();
    press(key);
    // This callback runs after that of the drawing, in the same frame.
    const end = await frame();
    times.push(end - begin);
  }
  return times.sort((a, b) => a - b);
});
const session = await browser.newBrowserCDPSession();
const { processInfo } = await session.send("SystemInfo.getProcessInfo");
const memory = processInfo
  .filter(({ type }) => type === "renderer")
  .map(({ id }) => /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))[1] / 1024);
console.log(
  JSON.stringify({
    painted,
    drawn,
    median: redraws[Math.floor(redraws.length / 2)],
    p95: redraws[Math.floor(redraws.length * 0.95)],
    longest: redraws.at(-1),
    memory: Math.max(...memory),
  }),
);
await browser.close();
