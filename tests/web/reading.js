// Reading an episode: values under the pointer, entries of legends, least and greatest values.
const { frames, pass, settled } = require("./kit.js");

const position = (page) => page.$eval(".transport input", (scrub) => Number(scrub.value));
const query = (page, ...names) => names.map((name) => new URL(page.url()).searchParams.get(name));
const drawn = (page, lane) => page.waitForSelector(`figure[data-lane="${lane}"][data-drawn]`);
const under = (page) => page.$$eval(".under", (all) => all.filter((e) => e.checkVisibility()).map((e) => Number(e.textContent)));
const area = async (page, lane) => {
  const found = page.locator(`figure[data-lane="${lane}"] .u-over`);
  await found.scrollIntoViewIfNeeded();
  return found.boundingBox();
};
/** What lanes of this page have drawn: the names of the curves that are shown. */
const shown = (page, name) => page.evaluate(async (lane) => {
  const { lanes } = await import(performance.getEntriesByType("resource").find((r) => r.name.endsWith("/lanes.js")).name);
  return lanes.find((l) => l.is.lane === lane).plot.series.slice(1).map((s) => s.show);
}, name);
/** A page that says when it was loaded again. */
async function once(page, url) {
  await page.goto(url);
  await settled(page);
  await page.evaluate(() => { window.same = true; });
  return () => page.evaluate(() => window.same === true);
}

exports.rows = {
  "the value under the pointer, on all lanes, and the step stays": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/reel/episodes/8?lanes=next.reward,action&at=7");
    await drawn(page, "next.reward");
    await drawn(page, "action");
    const box = await area(page, "action"), step = 123;
    await page.mouse.move(box.x + ((step + 0.5) / 360) * box.width, box.y + 30);
    await page.waitForSelector('.hair[data-step="123"]');
    const rows = await Promise.all(["next.reward", "action"].map((field) => t.hub.api(`/reel/episodes/8/${field}?row=${step}&format=json`)));
    const wanted = rows.flat(Infinity), got = await under(page);
    t.check(got.length === 3 && got.every((v, i) => Math.abs(v - wanted[i]) < 1e-5), "read", got, "instead of", wanted);
    t.same(await page.$$eval(".hair", (all) => all.map((e) => e.style.left === all[0].style.left && !e.hidden)), [true, true], "one line through all");
    t.same([await position(page), ...query(page, "at")], [7, "7"], "the step");
    await page.mouse.move(5, 5);
    await t.becomes(() => page.locator(".hair:visible").count(), 0, "lines once the pointer left");
    t.same((await under(page)).length, 0, "values once the pointer left");
  },
  "the least and greatest of a bucket under the pointer": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/shapes-v0/episodes/0?lanes=infos/spike");
    await drawn(page, "infos/spike");
    const box = await area(page, "infos/spike");
    await page.mouse.move(box.x + (70707.5 / 100000) * box.width, box.y + 30);
    await t.becomes(() => page.locator(".under").textContent(), "0 … 1", "the bucket of the spike");
  },
  "a finger that is held reads, a tap goes there": async (t) => {
    const page = await t.open({ width: 390, height: 844, hasTouch: true, isMobile: true });
    await page.goto(t.base + "/d/many-v0/episodes/3?lanes=rewards");
    await drawn(page, "rewards");
    await settled(page);
    const box = await area(page, "rewards"), touch = await page.context().newCDPSession(page);
    const finger = (type, part) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: part === undefined ? [] : [{ x: box.x + part * box.width, y: box.y + 20 }] });
    await finger("touchStart", 0.5);
    await page.waitForSelector('.hair[data-step="7"]');
    await finger("touchMove", 0.7);
    await page.waitForSelector('.hair[data-step="10"]');
    const rewards = await t.hub.api("/many-v0/episodes/3/rewards?format=json");
    t.check(Math.abs((await under(page))[0] - rewards[10]) < 1e-4, "read", await under(page), "instead of", rewards[10]);
    await finger("touchEnd");
    await t.becomes(() => page.locator(".hair:visible").count(), 0, "lines once the finger left");
    t.same([await position(page), ...query(page, "from")], [0, null], "step and window");
    await finger("touchStart", 0.5);
    await finger("touchEnd");
    await t.becomes(() => position(page), 7, "a tap");
  },
  "an entry of a legend: alone, all, off and on": async (t) => {
    const page = await t.open(), same = await once(page, t.base + "/d/many-v0/episodes/5?lanes=rewards,actions");
    await drawn(page, "actions");
    const entry = (n) => page.locator('figure[data-lane="actions"] .switches a').nth(n), lanes = () => query(page, "lanes")[0];
    await entry(1).locator("bdi").click();
    await t.becomes(lanes, "rewards,actions:1", "one alone");
    t.same(await shown(page, "actions"), [false, true, false], "curves");
    await entry(1).locator("bdi").click();
    await t.becomes(lanes, "rewards,actions", "again all");
    await entry(0).click({ modifiers: ["Shift"] });
    await t.becomes(lanes, "rewards,actions:1-2", "off with Shift");
    await entry(0).locator("svg").click();
    await t.becomes(lanes, "rewards,actions", "on by its line");
    await entry(2).focus();
    await page.keyboard.press("Shift+Enter");
    await t.becomes(lanes, "rewards,actions:0-1", "off by keys");
    t.same(await entry(2).getAttribute("aria-pressed"), "false", "its state");
    await page.keyboard.press("Space");
    await t.becomes(lanes, "rewards,actions:2", "alone by keys");
    t.check(await same(), "the page was loaded again");
    // the address is that state, with the colours it had, also without JavaScript
    const other = await t.open();
    await other.goto(page.url());
    await drawn(other, "actions:2");
    t.same(await shown(other, "actions:2"), [false, false, true], "curves of the address");
    const still = await t.open({ js: false });
    await still.goto(page.url());
    t.same(await still.$$eval('figure[data-lane="actions:2"] svg.plot path.line', (all) => all.map((e) => e.getAttribute("class"))), ["line s3"], "its colour without JavaScript");
    await still.click('figure[data-lane="actions:2"] .switches a:has-text("[2]")');
    t.same(new URL(still.url()).searchParams.get("lanes"), "rewards,actions", "all, without JavaScript");
  },
  "lanes come and go without a load, and back": async (t) => {
    const page = await t.open(), same = await once(page, t.base + "/d/many-v0/episodes/5?lanes=rewards,actions&at=3");
    await drawn(page, "actions");
    const lanes = () => page.$$eval("figure.lane", (all) => all.map((f) => f.dataset.lane)), chip = (name) => page.click(`[aria-label="Fields"] a:has(bdi:text-is("${name}"))`);
    await page.click('figure[data-lane="actions"] .switches a:has-text("[0]")');
    await chip("observations");
    await page.waitForURL((url) => url.searchParams.get("lanes") === "rewards,actions:0,observations");
    await t.becomes(lanes, ["rewards", "actions:0", "observations"], "lanes");
    await drawn(page, "observations");
    await t.becomes(() => page.locator('figure[data-lane="rewards"] h3 output').count(), 1, "readings");
    await chip("rewards");
    await t.becomes(lanes, ["actions:0", "observations"], "one less");
    await page.goBack();
    await t.becomes(lanes, ["rewards", "actions:0", "observations"], "back");
    t.same([...query(page, "at"), await same()], ["3", true], "step, and the page");
  },
  "least and greatest, by link and by key": async (t) => {
    const page = await t.open(), same = await once(page, t.base + "/d/many-v0/episodes/5?lanes=rewards,actions");
    await drawn(page, "actions");
    const [rewards, actions] = await Promise.all(["rewards", "actions"].map((field) => t.hub.api(`/many-v0/episodes/5/${field}?format=json`)));
    const first = (values, best) => values.indexOf(best(...values));
    for (const [n, best] of [[0, Math.min], [1, Math.max]]) {
      await page.locator('figure[data-lane="rewards"] .extremes a').nth(n).click();
      await t.becomes(() => position(page), first(rewards, best), "a link of the rewards");
    }
    const steps = [...new Set([0, 1, 2].flatMap((d) => [Math.min, Math.max].map((best) => first(actions.map((row) => row[d]), best))))].sort((a, b) => a - b);
    await page.keyboard.press("Home");
    await page.focus(".transport input");
    await page.keyboard.press("Home");
    await page.focus('figure[data-lane="actions"]');
    for (const step of steps.filter((s) => s > 0)) {
      await page.keyboard.press("e");
      await t.becomes(() => position(page), step, "the next extreme");
    }
    await page.keyboard.press("E");
    await t.becomes(() => position(page), steps.at(-2), "the one before");
    await page.locator('figure[data-lane="actions"] .switches a').nth(1).focus();
    await page.keyboard.press("Enter"); // [1] alone: its own two
    await page.focus(".transport input");
    await page.keyboard.press("Home");
    await page.focus('figure[data-lane="actions"]');
    const own = [Math.min, Math.max].map((best) => first(actions.map((row) => row[1]), best)).filter((s) => s > 0).sort((a, b) => a - b);
    await page.keyboard.press("e");
    await t.becomes(() => position(page), own[0], "of what is shown");
    t.check(await same(), "the page was loaded again");
    const still = await t.open({ js: false });
    await still.goto(t.base + "/d/many-v0/episodes/5?lanes=rewards");
    await still.click(".extremes a >> nth=1");
    t.same(new URL(still.url()).searchParams.get("at"), String(first(rewards, Math.max)), "without JavaScript");
  },
  "least and greatest of each dimension of a strip": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/many-v0/episodes/5?lanes=observations");
    await drawn(page, "observations");
    await page.click('figure[data-lane="observations"] summary');
    const rows = await t.hub.api("/many-v0/episodes/5/observations?format=json"), values = rows.map((row) => row[7]);
    await page.locator('figure[data-lane="observations"] [data-dim="7"] .extremes a').nth(1).click();
    await t.becomes(() => position(page), Math.min(14, values.indexOf(Math.max(...values))), "the greatest of [7]");
    const box = await page.locator('figure[data-lane="observations"] .area').boundingBox();
    await page.mouse.move(box.x + (4.5 / 15) * box.width, box.y + (7.5 / 12) * box.height);
    await t.becomes(() => page.locator('figure[data-lane="observations"] h3 .under').textContent(), `[7] ${Number(Math.fround(rows[4][7]).toPrecision(6))}`, "under the pointer");
  },
  "bounds of a space": async (t) => {
    const page = await t.open({ js: false });
    await page.goto(t.base + "/d/D4RL/door/human-v2/episodes/1?lanes=actions:0-3");
    t.same(await page.locator('figure[data-lane="actions:0-3"] path.bound').count(), 2, "thin lines");
    t.same(await page.getAttribute('figure[data-lane="actions:0-3"]', "data-bounds"), "[[-1.0,1.0]]", "one pair for all");
  },
  "the key list names them": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/many-v0/episodes/5");
    await settled(page);
    await page.focus(".transport input");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    t.check(/e, E\s*next, previous least or greatest/.test(await page.textContent("dialog")), "no word of extremes");
    await page.locator("dialog input").uncheck();
    await page.keyboard.press("Escape");
    await page.focus(".transport input");
    await page.keyboard.press("e");
    await frames(page);
    await pass(page, 100);
    t.same(await position(page), 0, "a letter while letters are off");
  },
};
