// Copies each command of a page as wide as a phone, turns the theme, and prints what it saw as JSON. Called by
// tests/render/test_browser.py, which judges it.
//
//     node commands.mjs CHROMIUM PAGE
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: "light" });
await context.grantPermissions(["clipboard-read", "clipboard-write"]);
const page = await context.newPage();
const seen = { complaints: [], copied: [], said: [], broken: [] };
page.on("console", (message) => seen.complaints.push(message.text()));
page.on("pageerror", (error) => seen.complaints.push(String(error)));
await page.goto(pathToFileURL(file).href);
for (const copy of await page.locator(".command + .copy").all()) {
  await copy.click();
  seen.copied.push(await page.evaluate(() => navigator.clipboard.readText()));
  seen.said.push(await copy.textContent());
}
seen.broken = await page.locator(".command > span").evaluateAll((words) =>
  words.filter((word) => word.getBoundingClientRect().height > 30).map((word) => word.textContent),
);
await page.click("button.scheme");
seen.scheme = await page.evaluate(() => document.documentElement.style.colorScheme);
console.log(JSON.stringify(seen));
await browser.close();
