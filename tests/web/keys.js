// The keyboard in the timeline: one clock for the scrubber, the rows and the address.
const { frames, pass, settled } = require("./kit.js");
const { open } = require("./videos.js");

const at = (page) => page.inputValue(".transport input").then(Number);

exports.rows = {
  "25 keys of the scrubber": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/D4RL/door/human-v2/episodes/1");
    await page.focus(".transport input");
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    await page.waitForURL("**/episodes/1?at=2");
    await page.waitForFunction(() => document.getElementById("values").textContent === "At step 2");
    const [shown, href] = await page.$eval('table.values a[href*="/rewards?"]', (link) => [link.closest("tr").cells[1].textContent, link.href]);
    t.check(new URL(href).searchParams.get("row") === "2" && Math.abs(shown - (await (await fetch(href)).json())) < 1e-6, "rows of another step:", shown, href);
    await page.keyboard.press("End");
    const last = Number(await page.getAttribute(".transport input", "max"));
    await t.becomes(() => at(page), last, "End");
    await page.keyboard.press("Home");
    await t.becomes(() => at(page), 0, "Home");
    await page.selectOption(".transport select", "0.1"); // else a slow machine may come to the end
    await page.focus(".transport input");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => document.querySelector(".transport input").value > 1);
    await page.keyboard.press("Space");
    await page.waitForSelector('.transport [aria-label="Play"]');
    const paused = await at(page);
    await frames(page, 40);
    t.same(await at(page), paused, "Space pauses");
    const plot = page.locator(".lane .u-over").first();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    await plot.click({ position: { x: box.width / 2, y: 20 } });
    await t.becomes(async () => Math.abs((await at(page)) - (last + 1) / 2) <= 1, true, "a click in the middle of a curve is the middle of", last);
  },
  "25 flags": async (t) => {
    const page = await t.open();
    for (const n of [7, 1]) {
      await page.goto(`${t.base}/d/D4RL/door/human-v2/episodes/${n}`);
      await page.focus(".transport input");
      await page.keyboard.press("f");
      await t.becomes(() => page.getAttribute('button[aria-keyshortcuts="f"]', "aria-pressed"), "true", "flagged");
    }
    await page.click("text=2 flagged");
    await page.waitForURL("**/episodes?where=**");
    t.same(await page.$$eval("tbody th", (all) => all.map((th) => th.textContent.trim())), ["1", "7"], "the list of those that are flagged");
  },
  "25 cameras": async (t) => {
    const page = await open(t, "/d/reel/episodes/8");
    await settled(page);
    await page.focus(".transport input");
    const widths = () => page.$$eval(".media figure", (all) => all.map((f) => f.clientWidth));
    const before = await widths();
    await page.keyboard.press("c");
    await page.waitForSelector(".media figure.large");
    const large = await widths();
    t.check(large[0] > before[0] && large[0] > 1000, "the first camera", before, large);
    await page.keyboard.press("Escape");
    await t.becomes(widths, before, "as they were");
  },
  "25 single keys are silent outside of the timeline": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/reel/episodes/8?at=5");
    await settled(page);
    await page.focus(".top .home");
    const url = page.url();
    for (const key of [..."wasdjkcfy?/[],.+-0"]) await page.keyboard.press(key);
    await pass(page, 500); // the address follows after 250 ms
    t.same([page.url(), await at(page), await page.evaluate(() => document.activeElement.className)], [url, 5, "home"], "a key did something");
    await page.fill('form[aria-label="Step"] input[name=at]', "");
    await page.type('form[aria-label="Step"] input[name=at]', "17");
    t.same(await page.inputValue('form[aria-label="Step"] input[name=at]'), "17", "typed into a field");
  },
};
