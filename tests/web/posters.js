// Posters: of a dataset, in rows, in the catalogue. Frames of the reel carry their number: tests/support/videos.py.
const KB = 1024, LIMIT = 150 * KB;

// the number that the squares of a drawn canvas say, and the transfer of all posters so far
const number = (canvas) => {
  const on = canvas.getContext("2d");
  let n = 0;
  for (let bit = 0; bit < 12; bit++) n |= (on.getImageData(((bit % 4) + 0.5) * (canvas.width / 4), ((bit >> 2) + 0.5) * (canvas.height / 3), 1, 1).data[1] > 127) << bit;
  return n;
};
const numbers = (page, selector) => page.$$eval(selector, (all, source) => { const read = new Function(`return ${source}`)(); return all.map((c) => (c.matches(".drawn") ? read(c) : null)); }, String(number));
const spent = (page) => page.evaluate(() => performance.getEntriesByType("resource").filter((e) => /[?&](poster|format=image)/.test(e.name)).reduce((sum, e) => sum + e.transferSize, 0));
// a slow machine lays a table out while it still comes: what shifts then is no poster's doing
const note_painted = (page) => page.addInitScript(() => addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }))));
// how far it shifts once all of it was painted, and what
const shifts = (page) => page.evaluate(() => new Promise((done) => {
  const found = [], what = ({ node }) => `${node?.nodeName} ${node?.className ?? node?.textContent}`.slice(0, 60);
  new PerformanceObserver((list) => { for (const e of list.getEntries()) if (e.startTime > window.painted) found.push({ by: e.value, what: e.sources.map(what) }); }).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => done(found)));
}));
// a poster that took its place late would move a row by 0.02 or more
const shifts_little = (t, where, by) => t.check(by.reduce((sum, s) => sum + s.by, 0) < 0.005, where, "shifts", JSON.stringify(by));
const all_drawn = (page, selector) => page.waitForFunction((s) => { const all = [...document.querySelectorAll(s)]; return all.length && all.every((c) => c.matches(".drawn, .absent")); }, selector);
const box = (page, selector) => page.$eval(selector, (e) => { const { left, right, top, bottom } = e.getBoundingClientRect(); return { left, right, top, bottom }; });

exports.rows = {
  "a dataset begins with its cameras": async (t) => {
    const page = await t.open(), { items } = await t.hub.api("/reel/episodes/0/~media");
    await page.goto(t.base + "/d/reel");
    await all_drawn(page, ".cameras canvas");
    t.same(await numbers(page, ".cameras canvas"), items.flatMap((m) => m.posters.map((p) => m.first_frame + p.step)), "the frames");
    t.same(items.map((m) => m.posters.map((p) => p.step)), [[0, 19, 39], [0, 19, 39]], "a beginning, a middle and an end");
    t.same(await page.$$eval(".cameras figcaption", (all) => all.map((c) => c.textContent)), ["front H.264, 30 Hz, 64 × 48", "wrist AV1, 30 Hz, 64 × 48"], "what is said of them");
    t.same(await page.$$eval(".cameras canvas", (all) => all.slice(0, 2).map((c) => c.getAttribute("aria-label"))), ["front, episode 0, step 0", "front, episode 0, step 19"], "their names");
    t.check((await box(page, ".cameras")).bottom < (await box(page, ".cards")).top, "distributions come first");
    await page.click(".cameras a:nth-child(2)");
    await page.waitForSelector(".transport input");
    t.same(await page.inputValue(".transport input"), "19", "a poster leads to its step");
  },
  "a row has the middle of its episode, a dataset of its first": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/reel/episodes");
    await all_drawn(page, "tbody canvas");
    const starts = [0, 40, 70, 125, 165, 205, 245, 285, 345], steps = [40, 30, 55, 40, 40, 40, 40, 60, 360];
    t.same(await numbers(page, "tbody canvas"), starts.map((s, i) => s + steps[i] / 2 - (steps[i] % 2) / 2), "rows");
    await page.goto(t.base + "/?q=reel");
    await all_drawn(page, "#results canvas");
    t.same((await numbers(page, "#results tr:has(a[href='/d/reel']) canvas"))[0], 20, "in the catalogue");
    t.same(await page.$$eval("#results tr:has(a[href='/d/reel']) canvas", (all) => all.length), 1, "one camera");
    await page.goto(t.base + "/?q=nothing-of-the-kind");
    await page.fill("input[type=search]", "reel"); // what comes as one types is drawn too
    await all_drawn(page, "#results canvas");
  },
  "posters are few bytes until somebody moves, and shift nothing": async (t) => {
    for (const view of ["/", "/d/reel", "/d/reel/episodes", "/d/heavy", "/d/pictures/corridor-v0", "/d/loose/touch"]) {
      const page = await t.open();
      await note_painted(page);
      await page.goto(t.base + view);
      await page.waitForLoadState("networkidle");
      const bytes = await spent(page);
      t.check(bytes <= LIMIT, view, bytes, "bytes of posters");
      shifts_little(t, view, await shifts(page));
      await page.context().close();
    }
    const page = await t.open();
    await page.goto(t.base + "/d/heavy");
    await page.waitForLoadState("networkidle");
    t.same(await page.$$eval(".cameras canvas.drawn", (all) => all.length), 0, "posters of 400 KB, drawn before anybody moved");
    await page.mouse.move(200, 200);
    await page.waitForFunction(() => document.querySelectorAll(".cameras canvas.drawn").length > 0);
  },
  "what cannot be shown has its place": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/unplayed");
    const within = (text) => page.locator(".cameras figure").filter({ hasText: text });
    await t.becomes(() => within("mpeg4").textContent().then((said) => /no decoder for mp4v\.20\.241/.test(said)), true, "the codec is named");
    t.same(await within("gone").count(), 1, "a tile for a camera without a file");
    t.check(/its video is missing/.test(await within("gone").textContent()), "the reason of a camera without a file");
    await page.goto(t.base + "/d/camera-v30");
    t.check(/neither JPEG nor PNG/.test(await within("depth").textContent()), "pictures that no browser shows");
    await t.becomes(() => page.$$eval(".cameras figcaption", (all) => all.map((c) => c.textContent)), ["image PNG, 10 Hz, 16 × 16"], "what is said of stored pictures, and what they are found to be");
  },
  "without JavaScript there are pictures too": async (t) => {
    const page = await t.open({ js: false });
    await page.goto(t.base + "/d/reel");
    t.same(await page.$$eval(".cameras video", (all) => all.map((v) => [v.getAttribute("width"), v.preload, v.getAttribute("src").endsWith("#t=0.001")])), Array(6).fill(["64", "metadata", true]), "videos of a frame");
    t.same(await page.locator("canvas.poster:visible").count(), 0, "empty canvases");
    await page.goto(t.base + "/d/heavy");
    t.same(await page.locator(".cameras video").count(), 0, "large ones");
    await page.goto(t.base + "/d/pictures/corridor-v0/episodes/0");
    t.check((await page.locator(".frames img:visible").count()) > 2, "a strip of pictures");
    const with_script = await t.open();
    await with_script.goto(t.base + "/d/pictures/corridor-v0/episodes/0");
    t.same(await with_script.locator(".frames").count(), 0, "with script the clock does what the strip did");
  },
  "cameras and curves are seen together": async (t) => {
    for (const [width, height] of [[1280, 900], [1920, 1080]]) {
      const page = await t.open({ width, height });
      await note_painted(page);
      await page.goto(t.base + "/d/reel/episodes/8");
      await page.waitForSelector(".plot.drawn");
      await page.waitForFunction(() => [...document.querySelectorAll(".media video")].every((v) => v.readyState >= 2));
      const [front, wrist, plot] = [await box(page, ".media figure:nth-child(1) video"), await box(page, ".media figure:nth-child(2) video"), await box(page, ".plot.drawn")];
      t.check(front.top === wrist.top && front.right < wrist.left, width, "the cameras are not beside each other");
      t.check(Math.abs((front.right - front.left) / (front.bottom - front.top) - 4 / 3) < 0.01, width, "a camera has another shape than its video");
      t.check(plot.bottom <= height, width, "the first curve ends at", plot.bottom);
      if (width > 1600) t.check(wrist.right < plot.left, "the curves are not beside the cameras");
      shifts_little(t, width, await shifts(page));
    }
  },
  "depth has its scale, and grids of numbers are pictures": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/loose/touch/episodes/0");
    await page.waitForSelector(".picture canvas");
    const figure = (name) => page.locator(".picture").filter({ hasText: name });
    await t.becomes(() => figure("depth").locator(".least, .greatest").allTextContents(), ["0.5", "4"], "its least and its greatest");
    await t.becomes(() => figure("touch").locator("canvas").count(), 1, "a grid of floats");
    t.same(await page.$$eval(".lane", (all) => all.map((l) => l.dataset.field)), ["obs/joints"], "curves of what is no picture and no matrix of a camera");
  },
};
