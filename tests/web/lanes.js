// The lanes of an episode in a headless Chromium: lanes.js BASE DATASET SPIKE HOLE.  Ends with 1 and a line for each thing that is wrong.
// Its episode 0 has a spike of one step in `rewards`, which is not finite at HOLE. Needs playwright-core (NODE_PATH) and Debian's chromium.
const kit = require("./kit.js");

const [base, id, spike, hole] = [process.argv[2], process.argv[3], Number(process.argv[4]), Number(process.argv[5])];
const episode = `${base}/d/${id}/episodes/0`, api = `${base}/api/v1/datasets/${id}/episodes/0`;
const wrong = [];
const say = (...words) => wrong.push(words.join(" "));

async function open(context, url) {
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && say(url, "console:", m.text()));
  page.on("pageerror", (e) => say(url, "error:", e.message));
  await page.goto(url);
  return page;
}
/** Until a lane shows the window of the address, and that is the last one asked for. */
const drawn = (page, lane, from, to) => page.waitForFunction(([name, a, b]) => document.querySelector(`[data-lane="${name}"]`)?.dataset.drawn?.startsWith(`${a} ${b} `), [lane, from, to]);
const json = async (page, url) => (await page.request.get(url)).json();

/** Where a lane is coloured like a series: for each column [x of the plot, highest y, lowest y], as parts of the plot. */
const columns = (page, lane, ink = "--s1") => page.evaluate(([name, ink]) => {
  const figure = document.querySelector(`[data-lane="${name}"]`), canvas = figure.querySelector("canvas"), area = figure.querySelector(".u-over");
  const box = area.getBoundingClientRect(), whole = canvas.getBoundingClientRect(), ratio = canvas.width / whole.width;
  const [x0, y0, w, h] = [box.left - whole.left, box.top - whole.top, box.width, box.height].map((v) => Math.round(v * ratio));
  const { data } = canvas.getContext("2d").getImageData(x0, y0, w, h);
  const hex = getComputedStyle(document.documentElement).getPropertyValue(ink).trim(), [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const found = [];
  for (let x = 0; x < w; x++) {
    const ys = [];
    for (let y = 0; y < h; y++) {
      const i = (y * w + x) * 4;
      if (data[i + 3] > 100 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 60) ys.push(y);
    }
    if (ys.length) found.push([x, ys[0], ys.at(-1)]);
  }
  return { w, h, found };
}, [lane, ink]);

// page and code of a first view; without its data
async function sizes(context) {
  const fresh = await context.browser().newContext(), page = await fresh.newPage(), answers = [];
  page.on("response", (r) => !r.url().includes("/api/") && answers.push(r));
  await page.goto(episode, { waitUntil: "networkidle" });
  const all = await Promise.all(answers.map(async (r) => [new URL(r.url()).pathname, (await r.request().sizes()).responseBodySize]));
  const sum = all.reduce((n, [, size]) => n + size, 0);
  if (sum > 58_000) say("sizes:", sum, "bytes", JSON.stringify(all));
  if (process.env.SHOTS) console.error(`page and code: ${sum} bytes in ${all.length} answers`);
  await fresh.close();
}

// what is read at a step is what is stored, and it is drawn where it belongs: step fields from their step to the next one
async function readings(context) {
  const from = 5000, to = 5020;
  const page = await open(context, `${episode}?from=${from}&to=${to}&lanes=rewards,observations:1,infos/count,return`);
  for (const lane of ["rewards", "observations:1"]) await drawn(page, lane, from, to);
  const rows = await json(page, `${api}/rewards?start=${from}&stop=${to}&format=json`), [low, high] = [Math.min(...rows), Math.max(...rows)];
  const { w, h, found } = await columns(page, "rewards");
  const y_of = (v) => h * (1 - (v - low + 0.06 * (high - low)) / (1.12 * (high - low)));
  for (let i = 0; i < rows.length; i++) {
    for (const part of [0.15, 0.5, 0.85]) {
      const column = found.find(([x]) => x === Math.round(((i + part) / (to - from)) * w));
      if (!column || column[1] > y_of(rows[i]) + 1.5 || column[2] < y_of(rows[i]) - 1.5) say("readings: step", from + i, "is not drawn at", part, JSON.stringify(column), y_of(rows[i]));
    }
    if (i % 4 === 0) {
      await page.focus(".transport input");
      await page.evaluate((step) => { const s = document.querySelector(".transport input"); s.value = step; s.dispatchEvent(new Event("input")); }, from + i);
      await page.waitForFunction((s) => document.getElementById("values").textContent === `At step ${s}`, from + i);
      const read = await page.textContent('[data-lane="rewards"] h3 output'), big = await page.textContent('tr:has(a[href*="/infos/count?"]) td');
      if (Number(read) !== rows[i]) say("readings: step", from + i, "reads", read, "not", rows[i]);
      const sum = await json(page, `${api}/rewards?width=1&of=sum&start=${from + i}&stop=${from + i + 1}`);
      await page.waitForFunction((s) => document.querySelector('[data-lane="return"] h3 output')?.textContent === s, String(sum.fields.rewards.values[0][0]));
      if (big !== String(2n ** 60n + BigInt(from + i))) say("readings: an integer reads", big);
    }
  }
  // a state stands at its step: the line goes through it
  const states = await json(page, `${api}/observations?start=${from}&stop=${to + 1}&format=json`), line = states.map((s) => s[1]);
  const seen = await columns(page, "observations:1", "--s2"), [a, b] = [Math.min(...line), Math.max(...line)];
  for (let i = 1; i < to - from; i++) {
    const y = seen.h * (1 - (line[i] - a + 0.06 * (b - a)) / (1.12 * (b - a))), column = seen.found.find(([x]) => x === Math.round((i / (to - from)) * seen.w));
    if (!column || column[1] > y + 2 || column[2] < y - 2) say("readings: the state at", from + i, "is not drawn there", column, y);
  }
  await page.evaluate((step) => { const s = document.querySelector(".transport input"); s.value = step; s.dispatchEvent(new Event("input")); }, hole);
  await page.waitForFunction((s) => document.getElementById("values").textContent === `At step ${s}`, hole);
  const nan = await page.textContent('[data-lane="rewards"] h3 output');
  if (nan !== "NaN") say("readings: NaN reads", nan);
  await page.close();
}

// a spike of one step is seen at any zoom
async function spikes(context) {
  const page = await open(context, `${episode}?at=${spike}&lanes=rewards`), steps = Number(await page.getAttribute(".transport", "data-steps"));
  let [from, to] = [0, steps];
  for (;;) {
    await drawn(page, "rewards", from, to);
    const { w, h, found } = await columns(page, "rewards"), x = ((spike - from) / (to - from)) * w;
    const top = found.filter((c) => Math.abs(c[0] - x) <= 2 || (c[0] >= x && c[0] <= x + w / (to - from))).reduce((y, c) => Math.min(y, c[1]), h);
    if (top > h * 0.06 + 2) say("spikes: not seen in", from, to, top, "of", h);
    if (to - from <= 8) break;
    await page.focus(".transport input");
    await page.keyboard.press("w");
    await page.waitForFunction((t) => ![null, t].includes(new URL(location.href).searchParams.get("to")), `${to}`);
    [from, to] = await page.evaluate(() => ["from", "to"].map((n) => Number(new URL(location.href).searchParams.get(n))));
  }
  await page.close();
}

// keys, buttons, wheel, drag; back where one was nothing is asked; no frame is without a curve
async function zooms(context) {
  const page = await open(context, `${episode}?at=50000&lanes=rewards,actions`);
  await drawn(page, "rewards", 0, 100000);
  await drawn(page, "actions", 0, 100000);
  const window_of = () => page.evaluate(() => ["from", "to"].map((n) => Number(new URL(location.href).searchParams.get(n))));
  let asked = [];
  page.on("request", (r) => r.url().includes("width=") && asked.push(r.url()));
  const after = async (what, act) => {
    const before = await window_of();
    await page.evaluate(() => {
      [window.blank, window.frames] = [0, 30];
      const canvas = document.querySelector('[data-lane="rewards"] canvas');
      requestAnimationFrame(function look() {
        const { data } = canvas.getContext("2d").getImageData(canvas.width / 4, 0, canvas.width / 2, canvas.height - 30);
        let ink = 0;
        for (let i = 0; i < data.length; i += 4) ink += data[i + 3] > 200 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60;
        window.blank += ink < 20;
        if (window.frames--) requestAnimationFrame(look);
      });
    });
    await act();
    await page.waitForFunction((old) => String(["from", "to"].map((n) => Number(new URL(location.href).searchParams.get(n)))) !== old, String(before)).catch((e) => say("zooms:", what, "changes nothing:", e.name));
    await page.waitForFunction(() => window.frames < 0);
    const now = await window_of();
    const blank = await page.evaluate(() => window.blank);
    if (blank) say("zooms:", what, "has", blank, "frames without a curve");
    if (now[1]) await drawn(page, "rewards", ...now);
    return now;
  };
  const press = (key) => async () => { await page.focus(".transport input"); await page.keyboard.press(key); };
  await after("w", press("w"));
  const here = await after("+", press("+"));
  if (here[1] - here[0] !== 25000) say("zooms: two steps in are", here);
  await after("d", press("d"));
  asked = [];
  const back = await after("a", press("a"));
  if (String(back) !== String(here)) say("zooms: back is", back, "not", here);
  if (asked.length) say("zooms: back again asks", asked.length, asked[0]);
  await after("the button", () => page.click('button[aria-label="Zoom in"]'));
  const box = await page.locator('[data-lane="rewards"] .u-over').boundingBox();
  await page.mouse.move(box.x + box.width / 4, box.y + 20);
  await after("the wheel", async () => { await page.keyboard.down("Control"); await page.mouse.wheel(0, -200); await page.keyboard.up("Control"); });
  const [from, to] = await window_of();
  const dragged = await after("a drag", async () => {
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + 20, { steps: 4 });
    await page.mouse.up();
  });
  if (Math.abs(dragged[0] - (from + (to - from) / 4)) > (to - from) / 100 || Math.abs(dragged[1] - (from + (to - from) / 2)) > (to - from) / 100) say("zooms: a drag of a quarter of", from, to, "is", dragged);
  const all = await after("0", press("0"));
  if (all[0] || all[1]) say("zooms: all is", all);
  await page.mouse.dblclick(box.x + 30, box.y + 30);
  // single keys are silent elsewhere
  await page.focus("nav a");
  await page.keyboard.press("w");
  await kit.pass(page, 500); // the address follows after 250 ms
  if ((await window_of())[1]) say("zooms: w acts outside of the timeline");
  await page.close();
}

// the address of a state is that state
async function links(context) {
  const first = await open(context, `${episode}?at=60000&lanes=rewards,observations,actions,infos/phase`);
  await first.focus(".transport input");
  for (const key of ["w", "w", "d", "."]) await first.keyboard.press(key);
  await first.waitForURL(/from=.*rate=2|rate=2.*from=/);
  const url = first.url(), shown = new URL(url).searchParams, second = await open(context, url);
  for (const page of [first, second]) for (const lane of ["rewards", "observations", "actions"]) await drawn(page, lane, shown.get("from"), shown.get("to"));
  const picture = (page) => page.evaluate(() => JSON.stringify([...document.querySelectorAll(".lanes .drawn")].map((box) => [box.querySelector("canvas").toDataURL(), box.querySelector(".cursor").style.left])) + document.querySelector(".lanes").innerText);
  let same = false; // once the readings of both are there
  for (const end = Date.now() + kit.DEADLINE_MS; !same && Date.now() < end; await kit.sleep(30)) same = (await picture(first)) === (await picture(second));
  if (!same) say("links: another picture of", url);
  if (process.env.SHOTS) await second.screenshot({ path: `${process.env.SHOTS}/link.png` });
  await first.click('button[aria-label="Keys"]');
  await first.waitForSelector("dialog[open]").catch(() => say("links: no help"));
  await first.keyboard.press("Escape");
  await first.close();
  await second.close();
}

// pictures: two requests at most, the last one is right
async function pictures(context) {
  const page = await context.newPage();
  await page.addInitScript(() => {
    const real = window.fetch;
    let under_way = 0;
    window.most = 0;
    window.fetch = (url, options) => {
      if (!String(url).includes("format=image&revision")) return real(url, options);
      window.most = Math.max(window.most, ++under_way);
      options.signal.addEventListener("abort", () => under_way--, { once: true });
      return real(url, options).finally(() => { if (!options.signal.aborted) under_way--; });
    };
  });
  await page.route(/format=image&revision/, async (route) => {
    await kit.sleep(30); // longer than a step below
    await route.continue().catch(() => {});
  });
  page.on("pageerror", (e) => say("pictures:", e.message));
  await page.goto(`${base}/d/pictures/corridor-v0/episodes/0`);
  await page.waitForSelector(".transport input");
  const last = Number(await page.getAttribute(".transport input", "max"));
  for (const step of [...Array(last + 1).keys(), 4]) {
    await page.evaluate((s) => { const i = document.querySelector(".transport input"); i.value = s; i.dispatchEvent(new Event("input")); }, step);
    await kit.frames(page, 0);
  }
  await page.waitForFunction(() => document.querySelector(".picture .n").textContent === "4");
  const same = await page.evaluate(async () => {
    const canvas = document.querySelector(".picture canvas"), bitmap = await createImageBitmap(await (await fetch(`${document.querySelector(".picture").dataset.src}?row=4&format=image`)).blob());
    const other = new OffscreenCanvas(bitmap.width, bitmap.height);
    other.getContext("2d").drawImage(bitmap, 0, 0);
    const [a, b] = [canvas, other].map((c) => c.getContext("2d").getImageData(0, 0, bitmap.width, bitmap.height).data);
    return canvas.width === bitmap.width && a.every((v, i) => v === b[i]);
  });
  if (!same) say("pictures: frame 4 is another one");
  const most = await page.evaluate(() => window.most);
  if (most > 2) say("pictures:", most, "requests under way");
  await page.close();
}

(async () => {
  const browser = await kit.launch(), context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(kit.DEADLINE_MS);
  await Promise.all([sizes, readings, spikes, zooms, links, pictures].map((check) => check(context).catch((e) => say(check.name, e.message))));
  await browser.close();
  for (const line of wrong) console.log(line);
  process.exit(wrong.length ? 1 : 0);
})().catch((e) => { console.log(e); process.exit(2); });
