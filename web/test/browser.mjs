// Uses the report in a headless Chromium as a reader does, and prints what it saw as JSON. Called by
// tests/render/test_browser.py, which judges it.
//
//     node browser.mjs CHROMIUM FIRST DRIVEN [LOOKED_AT ...]
//
// FIRST: start and end of the first prediction, in ns, as in the end of an address.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, first, driven, ...others] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const seen = { files: [], driven: {} };

/** A page that says what it complains of, what it asks for and how much it shifts. */
async function opened(file, options, noted) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => noted.complaints.push(message.text()));
  page.on("pageerror", (error) => noted.complaints.push(String(error)));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== pathToFileURL(file).href) noted.requests.push(request.url());
  });
  await page.addInitScript(() => {
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shifted += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(pathToFileURL(file).href);
  if (options.javaScriptEnabled !== false) await page.waitForSelector("#lanes[data-ready]");
  return page;
}

async function serious(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
}

/** What two recordings on a page show, at first, after a zoom of the second and after a key for the whole page. */
async function paired(page) {
  const views = async () => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const labels = await page.locator("canvas.lanes").evaluateAll((all) => all.map((each) => each.ariaLabel));
    return labels.map((label) => label.match(/([-\u2212]?[\d:.]+(?: s)?) to ([-\u2212]?[\d:.]+(?: s)?)/).slice(1));
  };
  const steps = [await views()];
  await page.click("#lanes button:text-is('+')");
  steps.push(await views());
  await page.evaluate(() => {
    document.querySelector("#lanes canvas.lanes").scrollIntoView({ block: "center" });
    document.activeElement.blur();
  });
  await page.keyboard.press("w");
  steps.push(await views());
  return { steps };
}

for (const file of [driven, ...others]) {
  const noted = { file, complaints: [], requests: [], overflow: {} };
  const page = await opened(file, { viewport: { width: 390, height: 900 } }, noted);
  noted.shift = await page.evaluate(() => window.shifted);
  // What is read first, with nothing over it.
  noted.first = await page.evaluate(() => [scrollY, document.elementsFromPoint(195, 700).some((each) => each.matches(".panel:not(.home)"))]);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    noted.overflow[width] = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  }
  noted.canvases = await page.evaluate(() =>
    [...document.querySelectorAll("canvas")].map((each) => [each.width, each.height].map((n) => n / devicePixelRatio)),
  );
  await page.click("#lanes button:text-is('Events in view')");
  await page.waitForSelector(".in-view table");
  await page.click("#lanes .close");
  noted.elements = await page.evaluate(() => document.querySelectorAll("img, b, script:not([type])").length);
  noted.drawn = await page.evaluate(() => {
    const canvas = document.querySelector("canvas.lanes");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set();
    for (let i = 0; i < data.length; i += 4) colors.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return colors.size;
  });
  noted.axe = await serious(page);
  const slow = page.locator("#lanes optgroup option").first();
  noted.slow = [];
  if (await slow.count()) {
    await page.locator("#lanes .tools select").nth(1).selectOption(await slow.getAttribute("value"));
    await page.locator("#lanes canvas.lanes").focus();
    for (const key of ["f", ".", ","]) {
      await page.keyboard.press(key);
      noted.slow.push((await page.innerText("#lanes .panel:not(.home)")).replaceAll(/\s+/g, " "));
    }
  }
  if (await page.locator("#lanes-after").count()) noted.pair = await paired(page);
  seen.files.push(noted);
  await page.context().close();
}

const noted = { complaints: [], requests: [] };
seen.driven.noted = noted;
{
  const page = await opened(driven, { viewport: { width: 1280, height: 900 } }, noted);
  const view = async () => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    return (await page.getAttribute("canvas.lanes", "aria-label")).match(/[\d:.]+(?: s)? to [\d:.]+(?: s)?/)[0];
  };
  const panel = async () => (await page.locator(".panel:not(.home)").allInnerTexts()).join(" ").replaceAll(/\s+/g, " ");
  const steps = {};
  const step = async (name, action) => {
    await action();
    steps[name] = { view: await view(), panel: await panel(), hash: await page.evaluate(() => location.hash) };
  };
  const lanes = page.locator("canvas.lanes");
  await lanes.scrollIntoViewIfNeeded();
  const box = async () => lanes.boundingBox();
  const at = async (x, y) => {
    await page.evaluate(() => document.querySelector(".tools").scrollIntoView());
    const { x: left, y: top, width } = await box();
    return [left + 168 + (width - 168) * x, top + y];
  };
  // The overview has the scale of the lanes below it.
  const overviewAt = async () => {
    await at(0, 0);
    return (await page.locator("canvas.overview").boundingBox()).y + 20;
  };
  const drag = async (from, to) => {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
    await page.mouse.move(...to);
    await page.mouse.up();
  };
  await step("opened", async () => {});
  await step("zoomed in", () => page.click("button[aria-label='Zoom in (w)']"));
  await step("zoomed out", () => page.click("button[aria-label='Zoom out (s)']"));
  await step("key w", async () => {
    await lanes.focus();
    await page.keyboard.press("w");
  });
  await step("key d", () => page.keyboard.press("d"));
  await step("key a", () => page.keyboard.press("a"));
  await step("key s", () => page.keyboard.press("s"));
  await step("key 0", () => page.keyboard.press("0"));
  await step("wheel", async () => {
    await page.mouse.move(...(await at(0.5, 100)));
    await page.keyboard.down("Control");
    const before = await lanes.getAttribute("aria-label");
    await page.mouse.wheel(0, -400);
    await page.waitForFunction((old) => document.querySelector("canvas.lanes").ariaLabel !== old, before);
    await page.keyboard.up("Control");
  });
  await step("dragged", async () => drag(await at(0.4, 100), await at(0.6, 100)));
  await step("pan button", () => page.click("button[aria-label='Pan right (d)']"));
  await step("whole", () => page.click("text=Whole recording"));
  await step("brush", async () => {
    const y = await overviewAt();
    await drag([(await at(0.25, 0))[0], y], [(await at(0.5, 0))[0], y]);
  });
  await step("brush moved", async () => {
    const y = await overviewAt();
    await drag([(await at(0.4, 0))[0], y], [(await at(0.6, 0))[0], y]);
  });
  await step("key 0 again", async () => {
    await lanes.focus();
    await page.keyboard.press("0");
  });
  await step("range on the axis", async () => drag(await at(0.0, 8), await at(0.5, 8)));
  await step("range cleared", () => page.click("text=Clear the range"));
  await step("range with shift", async () => {
    await page.keyboard.down("Shift");
    await drag(await at(0.25, 100), await at(0.5, 100));
    await page.keyboard.up("Shift");
  });
  await step("zoomed to range", () => page.click("text=Zoom to the range"));
  await step("escaped", async () => {
    await lanes.focus();
    await page.keyboard.press("Escape");
    await page.keyboard.press("0");
  });
  const finding = await page.locator(".tools select").nth(1).locator("option").nth(1).getAttribute("value");
  steps.finding = finding;
  await step("marked", () => page.locator(".tools select").nth(1).selectOption(finding));
  steps.marks = await page.innerText(".stepper");
  await step("evidence next", () => page.keyboard.press("."));
  await step("evidence button", () => page.click("button[aria-label^='Previous interval']"));
  await step("zoom to it", () => page.click("text=Zoom to it"));
  await step("time of it", async () => {
    await lanes.focus();
    await page.keyboard.press("v");
  });
  await step("all cleared", async () => {
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
    await page.keyboard.press("0");
  });
  await step("searched", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("prediction");
    await page.keyboard.press("Enter");
  });
  steps.matches = await page.innerText(".tools [role=status]:last-of-type");
  await step("next match", () => page.click("button[aria-label='Next match']"));
  await step("arrow", async () => {
    await lanes.focus();
    await page.keyboard.press("ArrowLeft");
  });
  await step("lane below", () => page.keyboard.press("ArrowDown"));
  await step("fitted", () => page.keyboard.press("f"));
  await step("shown", async () => {
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
    await page.evaluate((hash) => (location.hash = hash), `#range=${first}`);
    await page.waitForSelector(".statistics");
    await page.waitForFunction(() => !document.querySelector(".selected"));
  });
  // Below the axis, strips of two findings and of slow predictions, of predictions, and a title.
  const activity = 26 + 54 + 72 + 22 + 11;
  await step("clicked", async () => page.mouse.click(...(await at(0.5, activity))));
  await step("double click", async () => page.mouse.dblclick(...(await at(0.5, activity))));
  await page.mouse.move(...(await at(0.5, activity)));
  steps.tip = await page.textContent(".tip");
  steps.slow = await page.locator("#lanes optgroup option").first().getAttribute("value");
  await step("slow chosen", () => page.locator(".tools select").nth(1).selectOption(steps.slow));
  await step("slow left", async () => {
    await lanes.focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
  });
  await step("slow clicked", async () => page.mouse.click(...(await at(0.5, activity))));
  await step("strip clicked", async () => {
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
    await page.keyboard.press("0");
    await page.mouse.click(...(await at(0.5, 26 + 9)));
  });
  await step("its prediction", () => page.click(".panel:not(.home) dl button:not(.copy)"));
  await step("pinned clicked", async () => {
    await lanes.focus();
    for (const key of ["f", "p", "Escape"]) await page.keyboard.press(key);
    await page.mouse.click(...(await at(0.5, 26 + 11)));
    await page.keyboard.press("p");
  });
  const chart = (number) => page.locator(".plot svg").nth(number);
  await step("dot clicked", async () => {
    const [x, y] = (await chart(1).locator(".dots.cold").getAttribute("d")).match(/[\d.]+/g).map(Number);
    await chart(1).scrollIntoViewIfNeeded();
    const { x: left, y: top, width, height } = await chart(1).boundingBox();
    await page.mouse.move(left + (x / 100) * width + 3, top + (y / 100) * height);
    steps.dot = await page.textContent(".plot .tip:not([hidden])");
    await page.mouse.click(left + (x / 100) * width + 3, top + (y / 100) * height);
  });
  await step("bar clicked", async () => chart(0).locator("rect").last().click());
  steps.copied = await page.locator(".code .copy").count();
  await step("pinched", async () => {
    const session = await page.context().newCDPSession(page);
    const [[left, y], [right]] = [await at(0.4, 100), await at(0.6, 100)];
    const touch = (type, ...xs) =>
      session.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x, y, id })) });
    await page.keyboard.press("0");
    await touch("touchStart", left, right);
    for (const by of [20, 40, 60, 80]) await touch("touchMove", left - by, right + by);
    await touch("touchEnd");
  });
  await step("address", async () => {
    await page.evaluate(() => (location.hash = "#event=0-3&view=1000000000-2000000000&find=copy"));
    await page.waitForSelector(".selected");
    await page.evaluate(() => (navigator.clipboard.writeText = async (text) => (window.copied = text)));
    await page.click("text=Copy link");
  });
  steps.link = await page.evaluate(() => window.copied);
  await page.locator("#lanes input[type=search]").fill("");
  await page.keyboard.press("Escape");
  await lanes.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
  for (const grouping of ["models", "events", "lanes"]) {
    await step(`by ${grouping}`, () => page.locator(".tools select").first().selectOption(grouping));
  }
  await lanes.focus();
  await page.keyboard.press("t");
  await page.waitForSelector(".in-view table");
  steps.inView = (await page.innerText(".in-view")).replaceAll(/\s+/g, " ").slice(0, 200);
  await page.keyboard.press("?");
  steps.keys = await page.innerText("#lanes .panel:not(.home)");
  await page.keyboard.press("Escape");
  await step("fragment", async () => {
    await page.evaluate(() => (location.hash = "#range=1000000000-2000000000"));
    await page.waitForFunction(() => document.querySelector(".statistics h3")?.textContent.includes("1.00 s"));
  });
  await step("card", async () => {
    await page.locator(".jump a").first().click();
    await page.waitForSelector(".stepper button");
  });
  const column = async (number) =>
    page.locator("#events tbody tr:visible td:nth-child(" + number + ")").allInnerTexts();
  const graph = async () => (await page.innerText("#flame p[role=status]")).replaceAll(/\s+/g, " ");
  await lanes.focus();
  for (let i = 0; i < 2; i++) await page.keyboard.press("Escape");
  steps.flame = [await graph()];
  await page.evaluate(() => (location.hash = "#range=1000000000-2000000000"));
  await page.waitForFunction(() => document.querySelector("#flame p[role=status]").textContent.includes("the range"));
  steps.flame.push(await graph());
  const flame = page.locator(".flame canvas");
  await flame.hover({ position: { x: 20, y: 25 } });
  steps.flame.push(await page.innerText("#flame .about"));
  await flame.click({ position: { x: 20, y: 25 } });
  steps.flame.push(await graph());
  await page.click("text=Whole tree");
  steps.flame.push(await graph());
  await page.locator("#flame select[aria-label^='Samples']").selectOption({ index: 1 });
  steps.flame.push(await graph());
  await page.locator("#flame select[aria-label^='Samples']").selectOption({ index: 0 });
  await page.locator("#flame input").fill("load");
  steps.flame.push(await page.innerText("#flame .group [role=status]"));
  await page.click("text=Invert");
  await flame.hover({ position: { x: 20, y: 5 } });
  steps.flame.push(await page.innerText("#flame .about"));
  const heads = await page.locator("#events th").allInnerTexts();
  const counts = heads.findIndex((head) => head.startsWith("count")) + 1;
  await page.locator(`#events th:nth-child(${counts}) button`).click();
  steps.descending = await column(counts);
  await page.locator(`#events th:nth-child(${counts}) button`).click();
  steps.ascending = await column(counts);
  await page.locator("#events .filter input").fill("copy");
  steps.filtered = await column(2);
  await page.locator("#events .filter input").fill("");
  steps.ground = [await page.evaluate(() => getComputedStyle(document.body).backgroundColor)];
  await page.click(".scheme");
  steps.ground.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
  steps.axe = { dark: await serious(page) };
  await page.click(".scheme");
  steps.axe.light = await serious(page);
  const closed = () => page.locator("details:not([open])").count();
  steps.closed = [await closed()];
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  steps.closed.push(await closed());
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  steps.closed.push(await closed());
  seen.driven.steps = steps;
  await page.context().close();
}
{
  const page = await opened(driven, { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false }, noted);
  seen.driven.withoutScripts = (await page.innerText("main")).replaceAll(/\s+/g, " ");
  await page.context().close();
}
await browser.close();
console.log(JSON.stringify(seen));
