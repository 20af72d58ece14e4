// Filters the table of a matrix in a headless Chromium, and prints the rows that are left as JSON. Called by
// tests/render/test_browser.py, which judges them.
//
//     node matrix.mjs CHROMIUM PAGE WORDS ...
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file, ...searched] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
const seen = { complaints: [], left: [] };
page.on("console", (message) => seen.complaints.push(message.text()));
page.on("pageerror", (error) => seen.complaints.push(String(error)));
await page.goto(pathToFileURL(file).href);
for (const words of searched) {
  await page.fill("input[type=search]", words);
  seen.left.push(await page.locator("tbody tr:visible > :first-child").allTextContents());
}
console.log(JSON.stringify(seen));
await browser.close();
