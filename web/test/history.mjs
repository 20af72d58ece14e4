// Points at the first picture of a history in a headless Chromium, and prints what it saw as JSON. Called by
// tests/render/test_browser.py, which judges it.
//
//     node history.mjs CHROMIUM PAGE SHARE
//
// SHARE: how far from the left the pointer is, of the width of the picture.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file, share] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const seen = { complaints: [] };
page.on("console", (message) => seen.complaints.push(message.text()));
page.on("pageerror", (error) => seen.complaints.push(String(error)));
await page.goto(pathToFileURL(file).href);
const picture = page.locator("svg.trend").first();
const box = await picture.boundingBox();
const tip = page.locator(".tip.trend");
seen.before = await tip.isVisible();
await page.mouse.move(box.x + box.width * Number(share), box.y + box.height / 2);
seen.pointed = await tip.textContent();
seen.visible = await tip.isVisible();
await page.mouse.move(0, 0);
seen.left = await tip.isVisible();
await page.keyboard.press("Tab");
while (!(await page.evaluate(() => document.activeElement.querySelector(":scope > svg.trend")))) await page.keyboard.press("Tab");
seen.focused = await tip.textContent();
await page.keyboard.press("ArrowLeft");
seen.stepped = await tip.textContent();
await page.setViewportSize({ width: 390, height: 900 });
seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
await page.setViewportSize({ width: 1280, height: 900 });
await page.mouse.click(box.x + box.width * Number(share), box.y + box.height / 2);
await page.waitForURL(/report/);
seen.address = page.url();
console.log(JSON.stringify(seen));
await browser.close();
