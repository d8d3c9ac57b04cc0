// What is shown of values: exact integers, texts, distributions and what opens from them.
const { column } = require("./kit.js");

// numpy's rule: equal widths, the maximum in the last
function histogram(values, bins) {
  const low = Math.min(...values), high = Math.max(...values), counts = Array(bins).fill(0);
  for (const v of values) counts[Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins))]++;
  return counts;
}

// an answer once all that it needs is measured: odd episodes need more than the statistics of fields
const measured = async (t, id, what = "~statistics") => {
  const ask = () => t.hub.api(`/${id}/${what}`);
  await t.becomes(async () => (await ask()).coverage.complete, true, id, "is measured for", what);
  return ask();
};

exports.rows = {
  "15 a seed of 64 bits and texts are exact": async (t) => {
    const page = await t.open(), { items } = await t.hub.api("/seeds-v0/episodes");
    await page.goto(t.base + "/d/seeds-v0/episodes");
    const all = await page.textContent("main table");
    for (const e of items) {
      t.check(e.seed > "9232379236109516" && all.includes(e.seed), "the list lacks seed", e.seed);
      await page.goto(`${t.base}/d/seeds-v0/episodes/${e.number}`);
      t.check((await page.textContent("main")).includes(e.seed), "the episode lacks seed", e.seed);
    }
    const text = (await t.hub.api("/mission-text-v0")).fields.find((f) => f.type === "text" || /text|string/.test(f.dtype));
    const said = await (await fetch(`${t.base}/api/v1/datasets/mission-text-v0/episodes/0/${text.path}?row=2`)).json();
    await page.goto(t.base + "/d/mission-text-v0/episodes/0?at=2");
    t.check((await page.textContent("table.values")).includes(said), "text of step 2:", said);
  },
  "15 a long text is cut, with script as without": async (t) => {
    const cell = async (page) => (await page.locator("table.values tr", { hasText: "infos/text" }).locator(".id").textContent());
    const plain = await t.open({ js: false }), page = await t.open();
    await plain.goto(t.base + "/d/lengthy-v0/episodes/0?at=1");
    const said = await cell(plain);
    t.check(said.endsWith("(5000 bytes in all)") && said.length < 2100, "without script:", said.length, said.slice(-30));
    await page.goto(t.base + "/d/lengthy-v0/episodes/0");
    await page.focus(".transport input[type=range]");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.getElementById("values").textContent === "At step 1");
    t.same(await cell(page), said, "with script");
  },
  "15 a number within rows of JSON becomes a curve": async (t) => {
    const page = await t.open(), path = "actions/joint_pos";
    const stored = async (row) => (await (await fetch(`${t.base}/api/v1/datasets/molmo/pick/episodes/0/${path}?row=${row}`)).json()).arm[2];
    await page.goto(t.base + "/d/molmo/pick/episodes/0");
    await page.waitForSelector(".transport");
    const row = page.locator("table.values tr").filter({ hasText: path }).first();
    await row.locator("summary").click();
    await row.locator(".leaves .leaves").first().getByRole("link", { name: "2", exact: true }).click();
    const lane = page.locator(`figure[data-lane="${path}:/arm/2"]`);
    await lane.scrollIntoViewIfNeeded();
    await page.waitForSelector(`figure[data-lane="${path}:/arm/2"][data-drawn]`);
    for (const step of [0, 3]) {
      await page.$eval(".transport input", (scrub, at) => { scrub.value = at; scrub.dispatchEvent(new Event("input")); }, step);
      await page.waitForFunction((said) => document.getElementById("values").textContent === said, `At step ${step}`);
      t.same(Number(await lane.locator("h3 output").textContent()), await stored(step + 1), `step ${step}`);
    }
    t.check((await lane.textContent()).includes("all finite") === false, "its first row has no arm, and nothing says so");
  },
  "5 the return so far of shifted rewards ends at the return": async (t) => {
    const page = await t.open(), rewards = await t.hub.api("/molmo/pick/episodes/0/rewards?format=json"), { steps, ...episode } = await t.hub.api("/molmo/pick/episodes/0");
    await page.goto(t.base + "/d/molmo/pick/episodes/0?lanes=rewards,return");
    const lane = page.locator('figure[data-lane="return"]');
    await lane.scrollIntoViewIfNeeded();
    await page.waitForSelector('figure[data-lane="return"][data-drawn]');
    let sum = 0;
    for (let step = 0; step < steps; step++) {
      sum += rewards[step + 1]; // row 0 belongs to no step
      await page.$eval(".transport input", (scrub, at) => { scrub.value = at; scrub.dispatchEvent(new Event("input")); }, step);
      await t.becomes(async () => Number(await lane.locator("h3 output").textContent()).toFixed(6), sum.toFixed(6), `step ${step}`);
    }
    t.same(sum.toFixed(6), episode.return.toFixed(6), "the return of the episode");
  },
  "15 a cut row of JSON says so": async (t) => {
    const page = await t.open(), said = /not JSON: empty, or cut off by its writer at \d+ bytes/;
    await page.goto(t.base + "/d/molmo/odd/episodes/1?at=1");
    await page.waitForSelector(".transport");
    const cell = page.locator("table.values tr").filter({ hasText: "obs/agent/qpos" }).first().locator("td").first();
    t.check(said.test(await cell.textContent()), "step 1:", await cell.textContent());
    for (const [step, cut] of [[0, false], [2, true]]) {
      await page.$eval(".transport input", (scrub, at) => { scrub.value = at; scrub.dispatchEvent(new Event("input")); }, step);
      await page.waitForFunction((said) => document.getElementById("values").textContent === said, `At step ${step}`);
      t.same(said.test(await cell.locator("bdi").first().textContent()), cut, `step ${step}`);
    }
  },
  "18 a bar opens exactly its episodes": async (t) => {
    const { fields } = await measured(t, "many-v0"), page = await t.open();
    const { items } = await t.hub.api("/many-v0/episodes?limit=1000"), { edges, counts } = fields.return.histogram;
    const returns = items.filter((e) => Number.isFinite(e.return)).map((e) => e.return);
    t.same(counts, histogram(returns, counts.length), "counts");
    await page.goto(t.base + "/d/many-v0");
    const bars = await page.$$eval("svg.histogram a[href*='where=return']", (links) => links.map((a) => a.getAttribute("href")));
    const full = counts.map((c, i) => [c, i]).filter(([c]) => c);
    t.same(bars.length, full.length, "bars");
    for (const k of [0, full.length >> 1, full.length - 1]) {
      const i = full[k][1], last = i === counts.length - 1;
      const want = items.filter((e) => e.return >= edges[i] && (last ? e.return <= edges[i + 1] : e.return < edges[i + 1])).map((e) => String(e.number));
      await page.goto(t.base + bars[k]);
      t.same(await column(page, 0), want, "bar", i);
    }
  },
  "18 planted faults are found": async (t) => {
    const { rules } = await measured(t, "many-v0", "~findings"), page = await t.open();
    for (const [rule, number] of [["frozen", 1], ["nonfinite", 2]])
      t.same(rules.find((r) => r.rule === rule)?.episodes.map((e) => e.number), [number], rule);
    await page.goto(t.base + "/d/many-v0/~findings");
    const links = await page.$$eval("main table a", (all) => all.map((a) => a.getAttribute("href")));
    for (const number of [1, 2]) t.check(links.some((h) => h.includes(`/episodes/${number}?at=`) || h.endsWith(`/episodes/${number}`)), "no link to episode", number, links);
  },
};
