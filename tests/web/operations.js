// The operations page asks again while it is seen, and outlives its hub; a page that waits for its dataset becomes that dataset's.
const path = require("path");
const kit = require("./kit.js");

exports.rows = {
  "31 goes on by itself": async (t) => {
    t.expected = [/ERR_CONNECTION|Failed to load/, /~operations/];
    const hub = await kit.serve([path.join(t.roots, "broken")]), page = await t.open();
    try {
      await page.goto(hub.base + "/~operations");
      await page.evaluate(() => { window.stayed = true; });
      // the page's own record of what it asked, by its own clock
      const asked = (after) => page.evaluate((t) => performance.getEntriesByType("resource").filter((r) => r.name.endsWith("/~operations") && r.startTime >= t).map((r) => [r.startTime, r.responseEnd]), after);
      await t.becomes(async () => (await asked(0)).length >= 2, true, "asks again and again");
      const [[first, answered], [second]] = await asked(0);
      t.check(first > 1900 && second - answered > 1900, "asks at", first, "and, answered at", answered, "again at", second);
      const hide = (hidden) => page.evaluate((is) => { Object.defineProperty(document, "hidden", { configurable: true, get: () => is }); document.dispatchEvent(new Event("visibilitychange")); }, hidden);
      await hide(true);
      const hidden = await page.evaluate(() => performance.now());
      await kit.pass(page, 3000);
      t.same(await asked(hidden), [], "requests while nobody looks");
      await hub.halt();
      const failed = page.waitForEvent("requestfailed");
      await hide(false);
      await failed;
      hub.roots.push(path.join(t.roots, "empty"));
      await hub.start();
      await page.waitForFunction(() => document.querySelector("main").textContent.includes("root 1"));
      t.check(await page.evaluate(() => window.stayed), "the page was loaded anew");
    } finally {
      await hub.stop();
    }
  },
  "31 a page that follows becomes the dataset's": async (t) => {
    const page = await t.open(), [{ id }] = (await t.hub.api("?status=ready&limit=1")).items, url = `${t.base}/d/${id}`;
    const real = await (await fetch(url, { headers: { Accept: "text/html" } })).text();
    const waits = (text) => real.replace(/(<main id="main">\n).*(<\/main>)/s, (_, from, to) => `${from}<p class="muted counting" data-then="load">${text}</p>${to}`);
    let asked = 0;
    await page.route(url, (route) => asked++ < 2 ? route.fulfill({ contentType: "text/html; charset=utf-8", body: waits(`part ${asked}`) }) : route.continue());
    await page.goto(url);
    await page.evaluate(() => { window.stayed = true; });
    await page.waitForFunction(() => document.querySelector("main").textContent.includes("part 2"));
    t.check(await page.evaluate(() => window.stayed), "what goes on was loaded anew");
    await page.waitForFunction(() => document.querySelector("#use"));
    t.check(!(await page.evaluate(() => window.stayed)), "the page of the dataset has no scripts of its own");
    t.check(await page.locator("pre.copy button").count() > 0, "nothing can be copied");
  },
};
