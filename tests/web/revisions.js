// The revisions of a dataset in a headless Chromium: revisions.js BASE ID COMMIT [SHOTS], where COMMIT is one that is kept. SHOTS: a folder for
// pictures. Ends with 1 and a line for each thing that is wrong. Needs playwright-core (NODE_PATH) and Debian's chromium.
const path = require("path");
const kit = require("./kit.js");

const [base, id, commit, shots] = process.argv.slice(2);
const wrong = [];
const same = (got, want, ...words) => got === want || wrong.push([...words, JSON.stringify(got), "instead of", JSON.stringify(want)].join(" "));
const has = async (page, text, ...words) => same((await page.textContent("main")).includes(text), true, ...words);
const go = async (page, selector, to) => {
  await page.click(selector);
  await page.waitForURL((url) => url.pathname === to, { waitUntil: "domcontentloaded" });
};

async function walk(page, name) {
  await page.goto(`${base}/d/${id}`);
  await go(page, `main a[href='/d/${id}/~revisions']`, `/d/${id}/~revisions`);
  await page.waitForSelector("main table");
  if (shots) await page.screenshot({ path: path.join(shots, `revisions-${name}.png`), fullPage: true });
  same(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "nothing is wider than the window:");
  await go(page, `main a[href='/d/${id}?revision=${commit}']`, `/d/${id}`);
  await has(page, "This is an earlier revision", "an earlier revision says that it is one:");
  if (shots) await page.screenshot({ path: path.join(shots, `earlier-${name}.png`), fullPage: true });
  await page.fill("main form input[name=number]", "11");
  await page.press("main form input[name=number]", "Enter");
  await page.waitForURL(`**/d/${id}/episodes/11*`, { waitUntil: "domcontentloaded" });
  same(new URL(page.url()).searchParams.get("revision"), commit, "the episode is of the revision:");
  await has(page, "earlier revision", "the episode says it, too:");
  await go(page, `nav.crumbs a[href^='/d/${id}']`, `/d/${id}`);
  same(new URL(page.url()).searchParams.get("revision"), commit, "the way up leads to the revision:");
  await go(page, `main a[href='/d/${id}/~revisions']`, `/d/${id}/~revisions`);
}

(async () => {
  const browser = await kit.launch();
  for (const scripts of [true, false]) {
    for (const width of [1280, 390]) {
      const context = await browser.newContext({ javaScriptEnabled: scripts, viewport: { width, height: 900 } });
      context.setDefaultTimeout(kit.DEADLINE_MS);
      const page = await context.newPage();
      page.on("console", (m) => m.type() === "error" && wrong.push("console: " + m.text()));
      await walk(page, `${width}-${scripts ? "script" : "plain"}`);
      await context.close();
    }
  }
  await browser.close();
  if (wrong.length) console.error(wrong.join("\n"));
  process.exitCode = wrong.length ? 1 : 0;
})().catch((e) => { console.error(e); process.exit(1); });
