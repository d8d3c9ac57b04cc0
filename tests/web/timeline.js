// The timeline: what is marked on the overview, two fingers in a curve.
const { frames, pass, settled } = require("./kit.js");
const { seek } = require("./videos.js");

const position = (page) => page.$eval(".transport input", (scrub) => Number(scrub.value));

/** Of the pixels within the axes of a lane, how many have ink that a plot of all its points (same options, same scales) lacks within
 * a pixel of there, or lack what that has: buckets promise the same line up to a pixel. */
const differing = (page, name) => page.evaluate(async (name) => {
  const { lanes } = await import(performance.getEntriesByType("resource").find((r) => r.name.endsWith("/lanes.js")).name);
  const lane = lanes.find((l) => l.is.lane === name), values = new Float64Array(await (await fetch(`${lane.is.src}?format=raw`)).arrayBuffer());
  const box = document.body.appendChild(document.createElement("div"));
  const all = new uPlot(lane.options(), [Array.from(values, (_, i) => i), Array.from(values, (v) => (Number.isFinite(v) ? v : null))], box);
  for (let i = 0; i < 2; i++) await new Promise((done) => requestAnimationFrame(done));
  const { left, top, width, height } = all.bbox;
  const inked = (plot) => Uint8Array.from({ length: width * height }, (_, i) => plot[4 * i + 3] > 127 && Math.min(plot[4 * i], plot[4 * i + 1], plot[4 * i + 2]) < 160);
  const [a, b] = [lane.plot, all].map((plot) => inked(plot.ctx.getImageData(left, top, width, height).data));
  const near = (of, i) => [-width - 1, -width, -width + 1, -1, 0, 1, width - 1, width, width + 1].some((by) => of[i + by]);
  let apart = 0, drawn = 0;
  for (let i = 0; i < a.length; i++) {
    apart += (a[i] && !near(b, i)) || (b[i] && !near(a, i)) ? 1 : 0;
    drawn += b[i];
  }
  all.destroy();
  box.remove();
  return { part: apart / a.length, ink: apart / drawn, drawn };
}, name);

/** Holds the first request whose address matches: `begun` when it is asked, `release` lets its answer come, and waits for its end. */
async function hold(page, matches) {
  let go;
  const held = new Promise((done) => { go = done; }), begun = page.waitForRequest(matches);
  const ended = ["requestfinished", "requestfailed"].map((event) => page.waitForEvent(event, (r) => matches.test(r.url())).catch(() => {}));
  await page.route(matches, async (route) => { await held; await route.continue().catch(() => {}); });
  return { begun, release: async () => { go(); await Promise.race(ended); await frames(page, 4); } };
}

exports.rows = {
  "7 buckets look like all points": async (t) => {
    const fields = ["noise", "walk", "stairs", "sine", "spike", "holes"].map((name) => "infos/" + name), page = await t.open();
    for (const window of ["", "&from=30000&to=90000"]) {
      await page.goto(`${t.base}/d/shapes-v0/episodes/0?lanes=${fields.join(",")}${window}`);
      for (const field of fields) {
        await page.locator(`figure[data-lane="${field}"]`).scrollIntoViewIfNeeded();
        await page.waitForSelector(`figure[data-lane="${field}"][data-drawn]`);
        const { part, ink, drawn } = await differing(page, field);
        console.log(`      ${field}${window}: ${(100 * part).toFixed(3)} % of pixels differ, ${(100 * ink).toFixed(2)} % of those drawn`);
        t.check(drawn > 500 && part <= 0.005, field, window, part, "of pixels differ from all points drawn");
        t.check(ink <= 0.02, field, window, ink, "of the ink differs"); // a lost spike is far less than 0.5 % of the plot
      }
    }
  },
  "16 steps are drawn where they hold": async (t) => {
    // [lane, row of step i]: a step's row holds until the next one, a state is joined to the next, a shifted row i ends at i
    const page = await t.open();
    for (const [view, lane, ahead, holds] of [["/d/many-v0/episodes/5", "rewards", 0, true], ["/d/many-v0/episodes/5", "observations:3", 0, false], ["/d/molmo/pick/episodes/0", "rewards", 1, true]]) {
      await page.goto(`${t.base}${view}?lanes=${lane}`);
      await page.waitForSelector(`figure[data-lane="${lane}"][data-drawn]`);
      const [field, dim] = lane.split(":"), rows = await t.hub.api(`${view.slice(2)}/${field}?format=json`), values = rows.map((r) => (dim ? r[dim] : r));
      const wrong = await page.evaluate(async ([name, values, ahead, holds]) => {
        const { lanes } = await import(performance.getEntriesByType("resource").find((r) => r.name.endsWith("/lanes.js")).name);
        const { plot } = lanes.find((l) => l.is.lane === name), [ink] = getComputedStyle(document.documentElement).getPropertyValue("--s1").match(/[0-9a-f]{6}/i);
        const series = [0, 2, 4].map((i) => parseInt(ink.slice(i, i + 2), 16));
        const drawn = (step, value) => {
          const [x, y] = [plot.valToPos(step, "x", true), plot.valToPos(value, "y", true)].map(Math.round), { data } = plot.ctx.getImageData(x - 1, y - 1, 3, 3);
          return Array.from({ length: 9 }, (_, i) => series.every((c, k) => Math.abs(data[4 * i + k] - c) < 90)).some(Boolean);
        };
        const wrong = [];
        for (let i = 1; i < 4; i++) {
          const [a, b] = [values[i + ahead], values[i + ahead + 1]];
          for (const part of [0.1, 0.5, 0.9]) if (!drawn(i + part, holds ? a : a + part * (b - a))) wrong.push([i + part, a, b]);
        }
        return wrong;
      }, [lane, values, ahead, holds]);
      t.same(wrong, [], `${view} ${lane}`);
    }
  },
  "5 an action over the state of the same joints": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/reel/episodes/8?lanes=next.reward,action");
    await page.click('figure[data-lane="action"] a:has-text("observation.state")');
    await page.waitForSelector('figure[data-lane="action|observation.state"][data-drawn]');
    t.check(new URL(page.url()).searchParams.get("lanes") === "next.reward,action|observation.state", "the address is", page.url());
    await page.$eval(".transport input", (scrub) => { scrub.value = 123; scrub.dispatchEvent(new Event("input")); });
    await page.waitForFunction(() => document.getElementById("values").textContent === "At step 123");
    const stored = await Promise.all(["action", "observation.state"].map((field) => t.hub.api(`/reel/episodes/8/${field}?row=123&format=json`)));
    const lane = page.locator('figure[data-lane="action|observation.state"]');
    t.same((await lane.locator(".legend output").allTextContents()).map(Number), stored.flat(), "readings");
    const drawn = await page.evaluate(async () => {
      const { lanes } = await import(performance.getEntriesByType("resource").find((r) => r.name.endsWith("/lanes.js")).name);
      const { plot } = lanes.find((l) => l.is.over);
      return [plot.data.slice(1).map((line) => line[123]), plot.series.slice(1).map((s) => [s.stroke(), s.dash?.join()])];
    });
    t.same(drawn[0].map(Math.fround), stored.flat().map(Math.fround), "the curves at step 123");
    t.check(drawn[1][0][0] === drawn[1][2][0] && drawn[1][2][1] === "2,3" && !drawn[1][0][1], "a joint's colours and dashes", JSON.stringify(drawn[1]));
    const still = await t.open({ js: false });
    await still.goto(page.url());
    t.same(await still.$$eval('figure[data-lane="action|observation.state"] svg.plot path.line', (lines) => lines.map((l) => l.getAttribute("class"))), ["line s1", "line s2", "line s1 over", "line s2 over"], "without JavaScript");
  },
  "9 two fingers zoom": async (t) => {
    const page = await t.open({ width: 390, height: 844, hasTouch: true, isMobile: true });
    await page.goto(t.base + "/d/many-v0/episodes/3");
    await page.waitForSelector("figure.lane .u-over");
    const area = page.locator("figure.lane .u-over").first();
    await area.scrollIntoViewIfNeeded();
    await settled(page); // what comes late does not move it
    const box = await area.boundingBox(), touch = await page.context().newCDPSession(page);
    const fingers = (type, ...parts) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: parts.map((part, id) => ({ id, x: box.x + part * box.width, y: box.y + 20 })) });
    await fingers("touchStart", 0.4);
    await fingers("touchStart", 0.4, 0.6);
    for (const by of [0.05, 0.1, 0.15]) await fingers("touchMove", 0.4 - by, 0.6 + by);
    await fingers("touchEnd");
    await page.waitForURL("**from=*");
    const asked = new URL(page.url()).searchParams, [from, to] = ["from", "to"].map((name) => Number(asked.get(name)));
    t.check(to - from === 8 && from >= 3 && to <= 12, "two fingers show", from, "to", to); // 15 steps to a third of them, but 8 at least
    t.same(await position(page), 0, "the step after two fingers");
  },
  "a late answer: the window went back": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/shapes-v0/episodes/0?lanes=infos/walk");
    const whole = '[data-lane="infos/walk"][data-drawn^="0 100000 "]';
    await page.waitForSelector(whole);
    const { begun, release } = await hold(page, /infos\/walk\?.*width=/);
    await page.focus(".transport input");
    await page.keyboard.press("w");
    await begun;
    await page.keyboard.press("s");
    await frames(page);
    await pass(page, 200); // lanes ask after 80 ms
    await release();
    t.same(await page.locator(whole).count(), 1, "lanes of the whole episode");
  },
  "a late answer: the clock went back": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/shapes-v0/episodes/0?lanes=rewards");
    await settled(page);
    const { begun, release } = await hold(page, /[?&]start=64&stop=128&/), said = () => page.textContent("#values");
    await seek(page, 70);
    await begun;
    await seek(page, 0);
    await release();
    t.same(await said(), "At step 0", "rows");
    await seek(page, 70);
    await t.becomes(said, "At step 70", "rows");
  },
  "a late answer: the sum of another step": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/shapes-v0/episodes/0?lanes=return");
    await settled(page);
    const reading = () => page.textContent('[data-lane="return"] h3 output'), sums = await t.hub.api("/shapes-v0/episodes/0/rewards?width=1&of=sum&start=0&stop=11");
    const { begun, release } = await hold(page, /rewards\?.*width=1&start=256&/);
    await seek(page, 300);
    await begun;
    await seek(page, 10);
    await t.becomes(async () => Number(await reading()), sums.fields.rewards.values[0][10], "the sum");
    await release();
    t.same(Number(await reading()), sums.fields.rewards.values[0][10], "the sum, later");
  },
  "10 other fields, the same place": async (t) => {
    const page = await t.open({ height: 700 }), query = () => new URL(page.url()).searchParams;
    const shown = () => page.$$eval("figure.lane", (figures) => figures.map((f) => f.dataset.lane));
    await page.goto(t.base + "/d/many-v0/episodes/5?where=steps+%3E+1&at=2&lanes=rewards");
    await page.waitForSelector(".transport input");
    await page.selectOption('.transport select[aria-label="Speed"]', "2");
    await page.focus(".transport input");
    for (const key of ["ArrowRight", "ArrowRight", "w"]) await page.keyboard.press(key);
    await t.becomes(() => query().get("from"), "2", "the window is in the address");
    const place = ["at", "from", "to", "rate", "where"].map((name) => query().get(name));
    // the chip of a field, then a dimension of its strip: both as they are seen
    for (const [find, lanes] of [[() => page.locator('[aria-label="Fields"] a:has(bdi:text-is("observations"))'), ["rewards", "observations"]],
      [() => page.locator('figure[data-lane="observations"]').getByRole("link", { name: "[3]", exact: true }), ["rewards", "observations", "observations:3"]]]) {
      if (lanes.length > 2) await page.locator('figure[data-lane="observations"] summary').click();
      await find().scrollIntoViewIfNeeded();
      const { y } = await find().boundingBox();
      await Promise.all([page.waitForURL((url) => url.searchParams.get("lanes") === lanes.join(",")), find().click()]);
      await page.waitForSelector(".transport input");
      t.same(["at", "from", "to", "rate", "where"].map((name) => query().get(name)), place, "the place after", lanes);
      await t.becomes(() => shown(), lanes, "fields");
      t.check(await find().evaluate((link) => link === document.activeElement), "the focus is elsewhere after", lanes);
      t.check(Math.abs((await find().boundingBox()).y - y) <= 2, "the page moved by", (await find().boundingBox()).y - y, "after", lanes);
    }
    await page.selectOption('.transport select[aria-label="Speed"]', "4");
    await page.click('nav a[rel="next"]');
    await page.waitForURL("**/episodes/6?*");
    t.same(["at", "from", "to", "rate", "lanes", "where"].map((name) => query().get(name)), ["4", "2", "10", "4", "rewards,observations,observations:3", "steps > 1"], "the next episode");
    await page.waitForSelector(".transport input");
    t.same(await page.inputValue('.transport select[aria-label="Speed"]'), "4", "its speed");
    t.same(await position(page), 4, "its step");
  },
  "15 lost frames and another task are marked": async (t) => {
    const page = await t.open();
    for (const episode of [1, 0]) {
      await page.goto(`${t.base}/d/leaps/episodes/${episode}`);
      // marks are drawn when all are there: one in the colour of what is wrong, one in that of links
      await page.waitForFunction(() => {
        const canvas = document.querySelector(".overview-box canvas");
        if (!canvas?.width) return false;
        const style = getComputedStyle(document.documentElement), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return ["--bad", "--link"].every((name) => {
          const hex = style.getPropertyValue(name).trim(), [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
          for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 100 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 60) return true;
          return false;
        });
      });
      await page.focus(".transport input");
      for (const mark of [20, 30]) {
        await page.keyboard.press("]");
        await t.becomes(() => position(page), mark, `a mark of episode ${episode}`);
      }
      await page.keyboard.press("[");
      await t.becomes(() => position(page), 20, "the mark before");
    }
  },
};
