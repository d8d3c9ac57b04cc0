// Every view in both themes and at two widths: axe-core, sideways scroll, tables.
const fs = require("fs");
const path = require("path");
const kit = require("./kit.js");

const axe = fs.readFileSync(require.resolve("axe-core"), "utf8");
const door = "/d/D4RL/door/human-v2";
const GUIDE = fs.readdirSync(path.join(__dirname, "../../web/guide")).map((name) => `/~guide/${path.parse(name).name}`);
const VIEWS = ["/", "/?status=broken", "/~operations", "/~guide", "/~guide?q=episodes", "/~guide/api", "/~guide/train", "/d/nope-v0", "/d/odd/hostile-reel", "/d/odd/hostile-reel/episodes/0", "/d/unplayed/episodes/1", "/d/arm-v30/episodes/0", "/d/camera-v30/episodes/0", "/d/reel/episodes/7?at=9", "/d/pictures/corridor-v0/episodes/0", "/d/lengthy-v0/episodes/0", "/d/lengthy-v0/~statistics", "/d/lengthy-v0/~compare?e=0&e=1", "/d/many-v0/~compare", "/d/reel/~compare?e=2&e=3&diff=1", "/d/many-v0/episodes/5?lanes=rewards,actions:1", "/d/many-v0/episodes?sort=-return", door,
  ...["episodes?where=retur", "episodes?where=steps<0", "episodes/1?at=3", "episodes/999", "files", "~statistics", "~findings", "~compare?e=3&e=7", "~use?e=1"].map((view) => `${door}/${view}`)];

async function look(t, page, base, view, screen, rules) {
  const where = `${view} ${screen}:`;
  await page.goto(base + view);
  await kit.settled(page);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  t.check(over <= 0, where, `scrolls sideways by ${over} px`);
  const wide = await page.$$eval("table.values", (tables) => tables.map((table) => table.getBoundingClientRect().right - innerWidth));
  t.check(wide.every((by) => by <= 0), where, `rows reach beyond the page by ${wide} px`);
  if (process.env.SHOTS) {
    fs.mkdirSync(process.env.SHOTS, { recursive: true });
    await page.screenshot({ path: path.join(process.env.SHOTS, `${view.replace(/\W+/g, "-")}${screen}.png`), fullPage: true });
  }
  if (!rules) return;
  const found = await page.evaluate(`${axe}; axe.run(document, ${rules})`);
  for (const v of found.violations) t.say(where, v.impact, v.id, v.nodes[0].html.slice(0, 200), v.nodes[0].any[0]?.message ?? "");
  for (const wrong of await page.$$eval("table", (tables) => tables.filter((table) => !table.caption?.textContent.trim() || table.querySelector("th:not([scope])")).map((table) => table.outerHTML.slice(0, 120))))
    t.say(where, "a table without caption, or a head without scope:", wrong);
}

const EXPECTED = [/status of 4(00|04|22)/, /~media/];

// the first two are looked at each time; the second only for what depends on colours and width
const SOME = '{ runOnly: ["color-contrast", "target-size", "scrollable-region-focusable"] }';
const SCREENS = [[1280, "light", "{}"], [390, "dark", SOME], [1280, "dark", SOME], [390, "light", "{}"]];

async function look_at(t, base, views) {
  t.expected = EXPECTED;
  for (const [width, theme, rules] of t.all || process.env.SHOTS ? SCREENS : SCREENS.slice(0, 2)) {
    const page = await t.open({ width, theme, hasTouch: width < 600, reducedMotion: "reduce" });
    for (const view of views) await look(t, page, base, view, `-${width}-${theme}`, rules);
    await page.context().close();
  }
}

async function elsewhere(t, name, views) {
  const hub = await kit.serve([path.join(t.roots, name)]);
  try {
    await look_at(t, hub.base, views);
  } finally {
    await hub.stop();
  }
}

Object.assign(exports, { door, VIEWS, EXPECTED, look }); // for systems.js
exports.heavy = { "24 every page of the guide": (t) => look_at(t, t.base, GUIDE) };
exports.rows = {
  "24 axe, tables, no sideways scroll": (t) => look_at(t, t.base, VIEWS),
  "24 an empty hub": (t) => elsewhere(t, "empty", ["/", "/~operations"]),
  "24 a broken dataset": (t) => elsewhere(t, "broken", ["/", "/d/cut-v0", "/d/cut-v0/episodes", "/d/cut-v0/files", "/~operations"]),
  "24 the order of lists is told": async (t) => {
    const page = await t.open();
    for (const [sort, told] of [["-return", "descending"], ["steps", "ascending"]]) {
      await page.goto(`${t.base}/d/many-v0/episodes?sort=${sort}`);
      t.same(await page.$$eval("th[aria-sort]", (heads) => heads.map((h) => [h.textContent.trim().toLowerCase(), h.getAttribute("aria-sort")])), [[sort.replace("-", ""), told]], "aria-sort");
    }
  },
};
