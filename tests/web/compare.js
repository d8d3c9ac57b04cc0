// Several episodes over each other, how one selects them, and drawings as one Tab stop.
const { frames, settled } = require("./kit.js");
const { seek } = require("./videos.js");

const query = (page, ...names) => names.map((name) => new URL(page.url()).searchParams.get(name));
const lane = (name) => `figure[data-lane="${name}"]:not([data-mode="difference"])`;
const drawn = (page, name) => page.waitForSelector(`${lane(name)}[data-drawn]`);

exports.rows = {
  "one clock, one cursor, one window": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/many-v0/~compare?e=3&e=7&lanes=rewards,actions:1,observations:0-5");
    await drawn(page, "rewards");
    await seek(page, 9);
    await page.waitForURL(/at=9/);
    const stored = await Promise.all([3, 7].map((n) => t.hub.api(`/many-v0/episodes/${n}/rewards?row=9&format=json`)));
    await t.becomes(() => page.$$eval(`${lane("rewards")} .legend output`, (all) => all.map((o) => Number(o.textContent))), stored, "values at the step");
    t.same(new Set(await page.$$eval("div.cursor", (all) => all.map((e) => e.style.left))).size, 1, "one cursor");
    await page.locator(lane("observations:5")).scrollIntoViewIfNeeded();
    await t.becomes(() => page.locator(`${lane("observations:5")} .legend output`).count(), 2, "values of what comes into sight");
    await page.focus(lane("rewards"));
    await page.keyboard.press("w");
    await page.waitForURL(/from=.*to=/);
    const [from, to] = query(page, "from", "to");
    await page.waitForSelector(`${lane("actions:1")}[data-drawn^="${from} ${to} "]`);
    const other = await t.open({ js: false });
    await other.goto(page.url());
    t.same(await other.locator("svg.plot path.cursor").count(), 8, "the cursor without JavaScript");
    await page.locator(`${lane("rewards")} .u-over`).hover({ position: { x: 40, y: 20 } });
    await t.becomes(async () => (await page.locator(".hair:visible").count()) > 1, true, "a hair line through all");
  },
  "ends are aligned": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/reel/~compare?e=2&e=3&align=end&lanes=action:0&diff=1"); // 55 and 40 steps
    await drawn(page, "action:0");
    await page.waitForSelector('figure[data-mode="difference"][data-drawn]');
    await seek(page, 20);
    const [a, b] = await Promise.all([[2, 20], [3, 5]].map(([n, row]) => t.hub.api(`/reel/episodes/${n}/action?row=${row}&format=json`)));
    await t.becomes(() => page.$$eval(`${lane("action:0")} .legend output`, (all) => all.map((o) => Math.fround(Number(o.textContent)))), [a[0], b[0]].map(Math.fround), "values");
    const box = await page.locator('figure[data-mode="difference"] .u-over').boundingBox();
    await page.mouse.move(box.x + (20.5 / 55) * box.width, box.y + 20);
    await t.becomes(async () => Math.abs(Number(await page.textContent('figure[data-mode="difference"] .under')) - (a[0] - b[0])) < 1e-4, true, "the difference under the pointer");
    await seek(page, 3);
    await t.becomes(() => page.$$eval(`${lane("action:0")} .legend output`, (all) => all.map((o) => o.textContent !== "")), [true, false], "before the second one begins");
  },
  "the clock waits for the slowest video": async (t) => {
    const page = await t.open();
    let release;
    const held = new Promise((go) => { release = go; });
    await page.route("**/episodes/3/~media/*wrist*", async (route) => { await held; await route.continue().catch(() => {}); });
    await page.goto(t.base + "/d/reel/~compare?e=2&e=3");
    await page.waitForSelector(".transport input");
    await page.click('.transport [aria-keyshortcuts="Space"]');
    await page.waitForFunction(() => document.querySelector(".media video").readyState >= 3);
    await frames(page, 40);
    t.check(Number(await page.inputValue(".transport input")) <= 1, "the clock does not wait");
    release();
    await page.waitForFunction(() => document.querySelector(".transport input").value > 3);
  },
  "dimensions that are not shown are links": async (t) => {
    const page = await t.open({ js: false });
    await page.goto(t.base + "/d/D4RL/door/human-v2/~compare?e=3&e=7");
    t.check(/4 of 28 shown: \[4\] *\[5\]/.test((await page.textContent(".lanes")).replace(/\s+/g, " ")), "the dimensions that are left");
    await page.click('.lanes p a:has-text("[5]")');
    t.same(query(page, "lanes"), ["rewards,return,actions:0-3+5"], "the address");
    t.same(await page.locator(lane("actions:5")).count(), 1, "its figure");
  },
  "an empty comparison says what to do": async (t) => {
    const page = await t.open({ js: false });
    await page.goto(t.base + "/d/many-v0/~compare");
    t.check(/Mark up to six episodes in the list/.test(await page.textContent("main")), await page.textContent("main"));
    await page.click('main a:has-text("List of episodes")');
    await page.check("input[name=e] >> nth=4");
    await page.check("input[name=e] >> nth=6");
    await page.click("text=Compare selected");
    t.same(new URL(page.url()).searchParams.getAll("e"), ["4", "6"], "by a form alone");
  },
  "it fits 390 px": async (t) => {
    const page = await t.open({ width: 390, height: 844 });
    await page.goto(t.base + "/d/reel/~compare?e=2&e=3&e=7&diff=1");
    await settled(page);
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll("table, figure, .transport")].map((e) => e.getBoundingClientRect().right - innerWidth), ...[...document.querySelectorAll(".wide")].map((e) => e.scrollWidth - e.clientWidth)]);
    t.check(wide.every((by) => by <= 0), "beyond the page by", wide);
  },
  "what is selected stays in sight, and goes along": async (t) => {
    const page = await t.open({ height: 500 });
    await page.goto(t.base + "/d/many-v0/episodes");
    const bar = page.locator(".picked");
    const seen = async () => { const box = await bar.boundingBox(); return box.y >= 0 && box.y + box.height <= 501; };
    t.check(await seen(), "the bar is out of sight at the top of the list");
    await page.focus("input[name=e] >> nth=3");
    await page.keyboard.press("Space");
    await t.becomes(() => bar.locator("button").first().textContent(), "Compare 1 selected", "by the keyboard");
    await page.check("input[name=e] >> nth=9");
    t.check(await seen(), "the bar is out of sight");
    await page.click('a[rel="next"]');
    await page.waitForURL(/cursor/);
    await t.becomes(() => bar.locator(".one").allTextContents(), ["3 ×", "9 ×"], "on the next page");
    await page.check("input[name=e] >> nth=1");
    await bar.locator('[aria-label="no longer select episode 3"]').click();
    await t.becomes(() => bar.locator(".one").allTextContents(), ["9 ×", "51 ×"], "one taken away");
    await bar.locator("button").first().click();
    await page.waitForURL(/~compare/);
    t.same(new URL(page.url()).searchParams.getAll("e").sort(), ["51", "9"], "compared");
  },
  "a drawing is one Tab stop": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/many-v0");
    const bars = await page.$$eval("svg.histogram", (all) => all.map((svg) => [...svg.querySelectorAll("a")].map((a) => a.getAttribute("tabindex"))).filter((list) => list.length));
    t.check(bars.length >= 1 && bars.every((list) => list.filter((i) => i === "0").length === 1), "stops", JSON.stringify(bars));
    await page.focus('svg.histogram a[tabindex="0"]');
    const label = () => page.evaluate(() => document.activeElement.getAttribute("aria-label")), first = await label();
    await page.keyboard.press("ArrowRight");
    const second = await label();
    t.check(second !== first, "an arrow stays at", second);
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    t.same(await label(), first, "Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.waitForURL(/where=/);
    const still = await t.open({ js: false });
    await still.goto(t.base + "/d/many-v0");
    t.same(await still.locator('svg.histogram a:not([tabindex="-1"])').count(), 0, "stops without JavaScript");
    await still.click("summary:text('As a list') >> nth=0");
    await still.click("noscript li a >> nth=0").catch(() => still.click("figure details li a >> nth=0"));
    t.check(/where=/.test(still.url()), "a bar as a link of a list", still.url());
  },
};
