// Lists: sorting, filters, pages, the back button, search as one types.
const { column } = require("./kit.js");

const shown = async (page) => [new URL(page.url()).search, await column(page, 0)];

async function paged(t, js) {
  const page = await t.open({ js });
  await page.goto(t.base + "/d/many-v0/episodes");
  await page.click("thead >> text=return");
  await page.waitForURL("**sort=*return");
  const sort = new URL(page.url()).searchParams.get("sort");
  const all = (await t.hub.api(`/many-v0/episodes?sort=${sort}&limit=1000`)).items.map((e) => String(e.number));
  const first = await shown(page);
  t.same(first[1], all.slice(0, first[1].length), "sorted");
  await page.click("a[rel=next]");
  await page.waitForURL("**cursor=*");
  const second = await shown(page);
  t.same(second[1], all.slice(first[1].length, first[1].length + second[1].length), "next");
  await page.click("a[rel=prev]");
  await page.waitForURL((url) => url.search !== second[0]);
  t.same((await shown(page))[1], first[1], "previous after next");
  await page.goBack();
  t.same(await shown(page), second, "back");
  await page.goBack();
  t.same(await shown(page), first, "back twice");
  await page.fill("input[name=where]", "return > 30");
  await page.press("input[name=where]", "Enter");
  await page.waitForURL("**where=*");
  const where = await shown(page), some = (await t.hub.api(`/many-v0/episodes?sort=${sort}&where=return>30&limit=1000`)).items;
  t.check(where[0].includes("sort="), "a filter forgets the order:", where[0]);
  t.same(where[1], some.slice(0, where[1].length).map((e) => String(e.number)), "filtered");
  await page.click("tbody th a");
  await page.waitForURL("**/episodes/*?*");
  t.check(/where=/.test(page.url()) && /sort=/.test(page.url()), "an episode forgets its list:", page.url());
  await page.goBack();
  t.same(await shown(page), where, "back from an episode");
}

// The clock of the page stands still between the keys: a slow machine makes no pause in a word.
async function typed(t) {
  const page = await t.open();
  await page.clock.install();
  await page.goto(t.base + "/");
  await page.clock.pauseAt(Date.now() + 60000);
  const asked = [];
  page.on("request", (r) => { if (r.url().includes("?q=")) asked.push(new URL(r.url()).searchParams.get("q")); });
  await page.type("input[type=search]", "human");
  await page.clock.runFor(100);
  await page.evaluate(() => 0);
  t.same(asked, [], "requests before a pause");
  await page.clock.runFor(1000);
  await page.waitForURL("**/?q=human");
  t.same(asked, ["human"], "requests of a pause");
  const { items } = await t.hub.api("?q=human");
  t.same((await column(page, 0, "#results table")).length, items.length, "rows");
  t.same((await page.textContent("#filters")).includes("lerobot"), items.some((d) => d.format === "lerobot"), "the filters count what was found before");
  t.check((await page.textContent("#said")).startsWith(`${items.length} dataset`), "the count is not said");
  // a request that another one follows is given up: its answer cannot come late
  let answer;
  const held = new Promise((go) => { answer = go; });
  await page.route("**/?q=door*", async (route) => { await held; await route.continue().catch(() => {}); });
  const begun = page.waitForRequest("**/?q=door*"), over = page.waitForEvent("requestfailed", (r) => r.url().includes("?q=door"));
  await page.fill("input[type=search]", "door");
  await page.clock.runFor(1000);
  await begun;
  await page.fill("input[type=search]", "corridor");
  await page.clock.runFor(1000);
  await page.waitForURL("**/?q=corridor");
  await over;
  answer();
  await page.unroute("**/?q=door*");
  const live = await page.textContent("#results");
  t.check(page.url().endsWith("?q=corridor") && live.includes("corridor") && !live.includes("door/"), "a late answer is shown");
  const loaded = page.waitForEvent("load");
  await page.press("input[type=search]", "Enter");
  await loaded;
  t.same((await page.textContent("#results")).replace(/\s+/g, " "), live.replace(/\s+/g, " "), "Enter");
}

/* A bar a bin, as high as its share of the highest; none where no return is known. */
async function returns(t) {
  const page = await t.open({ js: false });
  await page.goto(t.base + "/?limit=200");
  const { items } = await t.hub.api("?limit=200&include=returns");
  const rows = await page.$$eval("#results tbody tr", (all) => all.map((row) => [row.querySelector("bdi").textContent, row.querySelector(".spread path")?.getAttribute("d") ?? null, row.querySelector(".spread title")?.textContent]));
  t.same(rows.map((row) => row[0]), items.map((d) => d.id.replace("\u202e", "U+202E")), "datasets");
  let drawn = 0;
  rows.forEach(([id, path, title], i) => {
    const counts = items[i].returns?.counts, most = Math.max(...(counts ?? []));
    t.check(!counts === !path, id, "is drawn", !!path);
    if (!counts) return;
    drawn++;
    const heights = [];
    let at = 0;
    for (const [, how, by] of path.matchAll(/([vh])(-?\d+)/g)) how === "v" ? (at -= by) : heights.push(at);
    t.same(heights, counts.map((n) => Math.ceil((n / most) * 9)), id);
    t.check(/^\S+ to \S+$/.test(title), id, title);
  });
  t.check(drawn > 3, "drawn:", drawn);
}

/* Beside the table on wide screens; above it, folded, on narrow ones. What is chosen stays, whatever is typed and found. */
async function narrowed(t, js) {
  const format = 'nav[aria-label=Filters] a[href*="format=lerobot"]';
  const wide = await t.open({ js });
  await wide.goto(t.base + "/");
  t.check(await wide.isVisible(format), "the filters are not beside the table");
  t.check(!(await wide.isVisible(".sift > summary")), "what lies beside the table can be folded");
  const names = await wide.$$eval("nav[aria-label=Filters] > details > summary", (all) => all.map((e) => e.textContent));
  t.same(names.slice(0, 8), ["Robot", "Task", "Camera", "Environment", "Format", "Problems", "Status", "Namespaces"], "the order of the filters");
  const page = await t.open({ js, width: 390 });
  await page.goto(t.base + "/");
  t.check(!(await page.isVisible(format)), "the filters are not folded");
  await page.click(".sift > summary");
  const [link, table] = await Promise.all([format, "#results table"].map((what) => page.locator(what).boundingBox()));
  t.check(link.y < table.y, "the filters are below the table");
  await page.click(format);
  await page.waitForURL("**format=lerobot");
  const { items } = await t.hub.api("?format=lerobot&limit=1000");
  t.same((await column(page, 0)).length, items.length, "rows");
  t.same(await page.textContent(".sift > summary"), "Filters (1)", "filters in use");
  await page.fill("input[type=search]", "nothing of the kind");
  await page.press("input[type=search]", "Enter");
  await page.waitForURL("**q=nothing*");
  const chosen = page.locator("nav[aria-label=Filters] a[aria-current]");
  t.check((await chosen.textContent()).startsWith("lerobot0"), "what is chosen is lost where nothing matches:", await chosen.allTextContents());
  await page.click(".sift > summary");
  await chosen.click();
  await page.waitForURL((url) => !url.search.includes("format"));
}

exports.rows = {
  "filters on wide and narrow screens": (t) => narrowed(t, true),
  "filters on wide and narrow screens without JavaScript": (t) => narrowed(t, false),
  "3 pages and order": (t) => paged(t, true),
  "3 pages and order without JavaScript": (t) => paged(t, false),
  "4 search as typed": typed,
  "returns in the catalogue": returns,
};
