// The timeline: what is marked on the overview, two fingers in a curve.
const { sleep } = require("./kit.js");

const position = (page) => page.$eval(".transport input", (scrub) => Number(scrub.value));

exports.rows = {
  "9 two fingers zoom": async (t) => {
    const page = await t.open({ width: 390, height: 844, hasTouch: true, isMobile: true });
    await page.goto(t.base + "/d/many-v0/episodes/3");
    await page.waitForSelector("figure.lane .u-over");
    const area = page.locator("figure.lane .u-over").first();
    await area.scrollIntoViewIfNeeded();
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
  "15 lost frames and another task are marked": async (t) => {
    const page = await t.open();
    for (const episode of [1, 0]) {
      await page.goto(`${t.base}/d/leaps/episodes/${episode}`);
      await page.waitForSelector(".transport input");
      await sleep(600);
      await page.focus(".transport input");
      for (const mark of [20, 30]) {
        await page.keyboard.press("]");
        t.same(await position(page), mark, `a mark of episode ${episode}`);
      }
      await page.keyboard.press("[");
      t.same(await position(page), 20, "the mark before");
    }
  },
};
