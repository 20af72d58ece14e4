// Sorts the table of a matrix by its last column and filters it in a headless Chromium, and prints the rows as JSON. Called
// by tests/render/test_browser.py, which judges them.
//
//     node matrix.mjs CHROMIUM PAGE WORDS ...
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file, ...searched] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
const seen = { complaints: [], sorted: [], left: [] };
page.on("console", (message) => seen.complaints.push(message.text()));
page.on("pageerror", (error) => seen.complaints.push(String(error)));
await page.goto(pathToFileURL(file).href);
const rows = () => page.locator("tbody tr:visible > :first-child").allTextContents();
await page.click("button.scheme");
seen.scheme = await page.evaluate(() => document.documentElement.style.colorScheme);
for (const column of ["last-child", "last-child", "first-child"]) {
  await page.click(`thead th:${column} button`);
  seen.sorted.push(await rows());
}
for (const words of searched) {
  await page.fill("input[type=search]", words);
  seen.left.push(await rows());
}
await page.emulateMedia({ media: "print" });
seen.printed = await page.locator("button.scheme, input[type=search]").filter({ visible: true }).count();
console.log(JSON.stringify(seen));
await browser.close();
