// Looks at every view of a hub in a headless Chromium: views.js BASE VIEW...  Ends with 1 and a line for each thing that is wrong.
// Needs playwright-core and axe-core (NODE_PATH) and Debian's chromium. SHOTS=DIR keeps a picture of each.
const fs = require("fs");
const { chromium } = require("playwright-core");

const axe = fs.readFileSync(require.resolve("axe-core"), "utf8");
const [base, ...views] = process.argv.slice(2);
const wrong = [];
const say = (...words) => wrong.push(words.join(" "));

// [width, theme, more of the context]
const screens = [
  [1280, "light", {}],
  [390, "dark", { hasTouch: true }],
  [320, "light", { forcedColors: "active", reducedMotion: "reduce" }],
];

let where; // what is looked at
async function open(context) {
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && !/status of 40[04]/.test(m.text()) && say(where, "console:", m.text()));
  page.on("pageerror", (e) => say(where, "error:", e.message));
  page.on("dialog", (d) => { say(where, "a script of the data ran:", d.message()); d.dismiss(); });
  return page;
}

async function look(page, view, width, theme) {
  where = `${view} at ${width} ${theme}:`;
  await page.goto(base + view);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) say(where, `scrolls sideways by ${over} px`);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${view.replace(/\W+/g, "-")}-${width}-${theme}.png`, fullPage: true });
  if (width > 320) {
    const what = theme === "light" ? "{}" : '{ runOnly: ["color-contrast", "target-size"] }'; // the rest is the same in any theme
    const found = await page.evaluate(`${axe}; axe.run(document, ${what})`);
    for (const v of found.violations) say(where, v.impact, v.id, v.nodes[0].html.slice(0, 200));
  }
}

// from the front page to the return of episode 7
async function by_mouse(context) {
  const page = await open(context);
  await page.goto(base + "/");
  await page.click('a[href="/d/D4RL/door/human-v2"]');
  await page.click('a[href$="/episodes/7"]');
  if (!(await page.locator("svg.plot").count())) say("by mouse: no curve");
  await page.close();
}

async function by_keyboard(context) {
  const page = await open(context);
  const focus = async (href) => {
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate((h) => document.activeElement.getAttribute("href") === h, href)) return page.keyboard.press("Enter");
    }
    say("by keyboard: no way to", href);
  };
  await page.goto(base + "/");
  await page.keyboard.press("Tab");
  if ((await page.evaluate(() => document.activeElement.className)) !== "skip") say("by keyboard: the first stop is not the skip link");
  await focus("/d/D4RL/door/human-v2");
  await page.waitForURL("**/human-v2");
  await focus("/d/D4RL/door/human-v2/episodes/7");
  await page.waitForURL("**/episodes/7");
  await page.close();
}

// search as one types: one request a pause, the address follows
async function typed(context) {
  const page = await open(context);
  await page.goto(base + "/");
  let asked = 0;
  page.on("request", (r) => { asked += r.url().includes("?q="); });
  await page.evaluate(() => {
    const search = document.querySelector("input[type=search]");
    for (const letter of "human") {
      search.value += letter;
      search.dispatchEvent(new Event("input"));
    }
  });
  await page.waitForURL("**/?q=human");
  const shown = await page.locator("#results tbody tr").count();
  if (shown !== 2 || asked !== 1) say(`search: ${shown} rows after ${asked} requests`);
  if (!(await page.locator("#said").textContent()).startsWith("2 datasets")) say("search: the count is not said");
  await page.close();
}

// nothing that is planted runs, be it text or a file of a dataset
async function planted(context) {
  const page = await context.newPage();
  await page.goto(base + "/");
  const inline = await page.evaluate(() => {
    try {
      document.body.innerHTML = "<p>x</p>";
      return "innerHTML was written";
    } catch (e) {
      return "";
    }
  });
  if (inline) say("planted:", inline);
  for (const tag of ["script", "link"]) {
    const ran = await page.evaluate(([name, url]) => new Promise((done) => {
      const element = document.createElement(name);
      element.onload = () => done(true);
      element.onerror = () => done(false);
      try {
        if (name === "link") [element.rel, element.href] = ["stylesheet", url];
        else element.src = url;
      } catch (e) {
        done(false); // an address of a script is a sink as well
      }
      document.head.append(element);
    }), [tag, base + "/api/v1/datasets/D4RL/door/human-v2/files/data/metadata.json"]);
    if (ran) say("planted: a file of a dataset was taken as", tag);
  }
  await page.close();
}

async function videos(context) {
  const page = await context.newPage();
  await page.goto(base + "/d/arm-v30/episodes/0");
  const count = await page.locator("video").count();
  if (!count) say("videos: there is none");
  const there = await page.evaluate(() => Promise.all([...document.querySelectorAll("video")].map((v) => v.readyState || new Promise((done) => {
    v.addEventListener("loadedmetadata", () => done(true));
    setTimeout(() => done(false), 5000);
  }))));
  if (there.some((t) => !t)) say("videos: one is not to be played", JSON.stringify(there));
  await page.close();
}

// the scrubber, its keys and a click in a curve move one clock; rows and address are those of its step
async function timeline(context) {
  const page = await open(context);
  await page.goto(base + "/d/D4RL/door/human-v2/episodes/1");
  await page.focus(".transport input");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
  await page.waitForURL("**/episodes/1?at=2");
  const shown = await page.evaluate(async () => {
    const link = document.querySelector('table.values a[href*="/rewards?"]');
    return [link.closest("tr").cells[1].textContent, JSON.stringify(await (await fetch(link.href)).json()), new URL(link.href).searchParams.get("row")];
  });
  if (Math.abs(shown[0] - shown[1]) > 1e-6 || shown[2] !== "2") say("timeline: rows of another step", shown);
  await page.keyboard.press("End");
  const last = await page.inputValue(".transport input");
  const plot = page.locator("svg.plot").first(), box = await plot.boundingBox();
  await plot.click({ position: { x: box.width / 2, y: 20 } });
  const half = await page.inputValue(".transport input");
  if (Number(half) !== Math.floor((Number(last) + 1) / 2)) say("timeline: a click in the middle is step", half, "of", last);
  await page.focus(".transport input");
  await page.keyboard.press("Space");
  await page.waitForFunction((from) => document.querySelector(".transport input").value > from, Number(half));
  await page.keyboard.press("Space");
  await page.goto(base + "/d/arm-v30/episodes/0");
  await page.waitForSelector(".transport");
  const fps = (await (await page.request.get(base + "/api/v1/datasets/arm-v30")).json()).fps;
  for (const step of [1, 3, 2]) {
    const times = await page.evaluate((at) => {
      const scrub = document.querySelector(".transport input");
      scrub.value = at;
      scrub.dispatchEvent(new Event("input"));
      return new Promise((done) => setTimeout(() => done([...document.querySelectorAll("video")].filter((v) => v.readyState).map((v) => [v.currentTime, v.duration])), 300));
    }, step);
    if (!times.length) say("timeline: no video is playable here");
    for (const [time, length] of times)
      if (Math.floor(time * fps + 0.25) !== step && time < length) say("timeline: step", step, "shows", time, "of", length);
  }
  await page.close();
}

(async () => {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  for (const [width, colorScheme, more] of screens) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, ...more });
    const page = await open(context);
    for (const view of views) await look(page, view, width, colorScheme);
    await page.close();
    if (width === 1280)
      for (const step of [by_mouse, by_keyboard, typed, planted, videos, timeline]) {
        where = step.name;
        await step(context);
      }
    await context.close();
  }
  await browser.close();
  for (const line of wrong) console.log(line);
  process.exit(wrong.length ? 1 : 0);
})().catch((e) => { console.log(e); process.exit(2); });
