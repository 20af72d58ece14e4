// Takes a picture of the first screen of a page in headless Chromium. Called by scripts/view_page.py.
//
//     node picture.mjs CHROMIUM PAGE PICTURE
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file, path] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
await page.goto(pathToFileURL(file).href);
await page.waitForSelector("#lanes[data-ready]");
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.screenshot({ path });
await browser.close();
