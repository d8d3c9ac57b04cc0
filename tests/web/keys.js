// The keyboard in the timeline: one clock for the scrubber, the rows and the address.
const at = (page) => page.inputValue(".transport input").then(Number);

exports.rows = {
  "25 keys of the scrubber": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/D4RL/door/human-v2/episodes/1");
    await page.focus(".transport input");
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    await page.waitForURL("**/episodes/1?at=2");
    const [shown, href] = await page.$eval('table.values a[href*="/rewards?"]', (link) => [link.closest("tr").cells[1].textContent, link.href]);
    t.check(new URL(href).searchParams.get("row") === "2" && Math.abs(shown - (await (await fetch(href)).json())) < 1e-6, "rows of another step:", shown, href);
    await page.keyboard.press("End");
    const last = await at(page);
    t.check(last === Number(await page.getAttribute(".transport input", "max")), "End is step", last);
    await page.keyboard.press("Home");
    t.same(await at(page), 0, "Home");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => document.querySelector(".transport input").value > 1);
    await page.keyboard.press("Space");
    const paused = await at(page);
    await page.waitForTimeout(300);
    t.same(await at(page), paused, "Space pauses");
    const plot = page.locator(".lane .u-over").first();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    await plot.click({ position: { x: box.width / 2, y: 20 } });
    const half = await at(page);
    t.check(Math.abs(half - (last + 1) / 2) <= 1, "a click in the middle of a curve is step", half, "of", last);
  },
  "25 flags and cameras": async (t) => {
    const page = await t.open();
    for (const n of [7, 1]) {
      await page.goto(`${t.base}/d/D4RL/door/human-v2/episodes/${n}`);
      await page.focus(".transport input");
      await page.keyboard.press("f");
      t.same(await page.getAttribute('button[aria-keyshortcuts="f"]', "aria-pressed"), "true", "flagged");
    }
    await page.click("text=2 flagged");
    await page.waitForURL("**/episodes?where=**");
    t.same(await page.$$eval("tbody th", (all) => all.map((th) => th.textContent.trim())), ["1", "7"], "the list of those that are flagged");
    await page.goto(t.base + "/d/reel/episodes/8");
    await page.waitForSelector(".transport input");
    await page.focus(".transport input");
    const widths = () => page.$$eval(".media figure", (all) => all.map((f) => f.clientWidth));
    const before = await widths();
    await page.keyboard.press("c");
    const large = await widths();
    t.check(large[0] > before[0] && large[0] > 1000, "the first camera", before, large);
    await page.keyboard.press("Escape");
    t.same(await widths(), before, "as they were");
  },
  "25 single keys are silent outside of the timeline": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/d/reel/episodes/8?at=5");
    await page.waitForSelector(".transport input");
    await page.waitForTimeout(300);
    await page.focus(".top .home");
    const url = page.url();
    for (const key of [..."wasdjkcfy?/[],.+-0"]) await page.keyboard.press(key);
    await page.waitForTimeout(300);
    t.same([page.url(), await at(page), await page.evaluate(() => document.activeElement.className)], [url, 5, "home"], "a key did something");
    await page.fill('form[aria-label="Step"] input[name=at]', "");
    await page.type('form[aria-label="Step"] input[name=at]', "17");
    t.same(await page.inputValue('form[aria-label="Step"] input[name=at]'), "17", "typed into a field");
  },
};
