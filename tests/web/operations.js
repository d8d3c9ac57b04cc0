// The operations page asks again while it is seen, and outlives its hub.
const path = require("path");
const kit = require("./kit.js");

exports.rows = {
  "31 goes on by itself": async (t) => {
    t.expected = [/ERR_CONNECTION|Failed to load/, /~operations/];
    const hub = await kit.serve([path.join(t.roots, "broken")]), page = await t.open();
    try {
      let asked = 0;
      await page.goto(hub.base + "/~operations");
      await page.evaluate(() => { window.stayed = true; });
      page.on("request", (r) => { asked += r.url().endsWith("/~operations"); });
      await kit.sleep(4600);
      t.check(asked === 2, `${asked} requests in 4.6 s`);
      const hide = (hidden) => page.evaluate((is) => { Object.defineProperty(document, "hidden", { configurable: true, get: () => is }); document.dispatchEvent(new Event("visibilitychange")); }, hidden);
      await hide(true);
      asked = 0;
      await kit.sleep(4500);
      t.check(asked === 0, `${asked} requests while nobody looks`);
      await hub.halt();
      await hide(false);
      await kit.sleep(500);
      hub.roots.push(path.join(t.roots, "empty"));
      await hub.start();
      await page.waitForFunction(() => document.querySelector("main").textContent.includes("root 1"), null, { timeout: 20000 });
      t.check(await page.evaluate(() => window.stayed), "the page was loaded anew");
    } finally {
      await hub.stop();
    }
  },
};
