// The way from the front page to the return of an episode and its video, without JavaScript too.
const { column, launch } = require("./kit.js");
const { showing } = require("./videos.js");

async function arrived(t, page) {
  const { items } = await t.hub.api("/reel/episodes"), seven = items.find((e) => e.number === 7);
  const text = await page.textContent("main .facts");
  const shown = Number(text.match(/(-?[\d.]+)\s*return/)?.[1]);
  t.check(Math.abs(shown - seven.return) < 1e-3, "return", shown, "instead of", seven.return, text);
  await showing(t, page, [285, 285], "the first frames of episode 7");
}

const DATASET = 'a[href="/d/reel"]', SEVEN = 'a[href="/d/reel/episodes/7"]';

async function by_keyboard(t) {
  const page = await t.open();
  await page.goto(t.base + "/");
  await page.keyboard.press("Tab");
  t.same(await page.evaluate(() => document.activeElement.className), "skip", "the first stop");
  for (const href of ["/d/reel", "/d/reel/episodes/7"]) {
    for (let i = 0; i < 200 && !(await page.evaluate((h) => document.activeElement.getAttribute("href") === h, href)); i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL("**" + href);
  }
  await arrived(t, page);
}

// every address without JavaScript: its facts are in the text, there is a drawing, forms lead on
async function without(t) {
  const page = await t.open({ js: false });
  const text = async (path, ...facts) => {
    const answer = await page.goto(t.base + path);
    t.same(answer.status(), 200, path);
    const all = (await page.textContent("main")).replace(/\s+/g, " ");
    for (const fact of facts) t.check(all.includes(fact), path, "does not say", fact);
  };
  const door = "/D4RL/door/human-v2", d = "/d" + door;
  const document = await t.hub.api(door), { items } = await t.hub.api(door + "/episodes");
  await text("/", ...(await t.hub.api("?limit=50")).items.map((i) => i.id).filter((id) => !id.includes("<")));
  await text(d, document.description.slice(0, 60), ...document.fields.map((f) => f.path), String(document.episodes), document.steps.toLocaleString("en"));
  t.check((await page.locator("svg.histogram").count()) >= 2, d, "draws no distributions");
  await text(d + "/episodes");
  t.same(await column(page, 0), items.map((e) => String(e.number)), "episodes");
  const rewards = await (await fetch(`${t.base}/api/v1/datasets${door}/episodes/1/rewards?format=json`)).json();
  await text(d + "/episodes/1?at=3", String(Number(rewards[3].toPrecision(9))).slice(0, 8), "At step 3");
  t.check((await page.locator(".plot").count()) > 0, "an episode has no curve");
  await page.fill('form[aria-label="Step"] input[name=at]', "5");
  await page.press('form[aria-label="Step"] input[name=at]', "Enter"); // playwright finds no button stable without JavaScript
  await page.waitForURL("**at=5*");
  t.check(new URL(page.url()).searchParams.get("at") === "5" && (await page.textContent("main")).includes("At step 5"), "the form of the step leads to", page.url());
  await text(d + "/files", ...(await t.hub.api(door + "/files?delimiter=/")).items.map((f) => f.path));
  await text(d + "/~statistics", "Return", "Steps");
  t.check((await page.locator("svg.histogram").count()) >= 2, "statistics have no drawing");
  for (const path of [d + "/~findings", d + "/~compare?e=3&e=7", d + "/~use?e=7", "/~operations"]) await text(path);
  await page.goto(t.base + d);
  await page.fill('form[aria-label="Go to an episode"] input', "7");
  await page.press('form[aria-label="Go to an episode"] input', "Enter");
  await page.waitForURL("**/episodes/7*");
  t.check(new URL(page.url()).pathname.endsWith("/episodes/7"), "the number leads to", page.url());
  await page.goto(t.base + d + "/episodes");
  await page.fill("input[name=where]", "steps > 0 and number < 3");
  await page.press("input[name=where]", "Enter");
  await page.waitForURL("**where=*");
  t.same(await column(page, 0), ["0", "1", "2"], "filter");
  await page.goto(t.base + "/");
  await page.fill("input[type=search]", "human");
  await page.press("input[type=search]", "Enter");
  await page.waitForURL("**q=human*");
  t.same((await column(page, 0)).length, (await t.hub.api("?q=human")).items.length, "search");
  await page.goto(t.base + "/d/reel/episodes/7");
  t.check(await page.$eval("video", (v) => v.controls), "a video has no controls without JavaScript");
}

// a host that is neither https nor this machine has no navigator.clipboard: what is copied there is what can be pasted
async function plain_http(t) {
  const browser = await launch("--host-resolver-rules=MAP hub.lab 127.0.0.1");
  t.contexts.push({ close: () => browser.close() });
  const page = await t.open({}, browser), base = t.base.replace("127.0.0.1", "hub.lab");
  const pasted = async () => {
    await page.evaluate(() => document.body.appendChild(document.createElement("textarea")).focus());
    await page.keyboard.press("Control+V");
    return page.$eval("body > textarea", (area) => { area.remove(); return area.value; });
  };
  await page.goto(base + "/d/D4RL/door/human-v2/~use");
  t.check(await page.evaluate(() => !navigator.clipboard), "this is no plain http");
  t.same(await page.locator("pre.copy button").count(), await page.locator("pre.copy").count(), "buttons");
  const third = page.locator("pre.copy").nth(2), code = await third.locator("code").textContent(), scrolled = () => page.evaluate(() => scrollY);
  await third.scrollIntoViewIfNeeded();
  const before = await scrolled();
  await third.getByRole("button").click();
  t.same(await third.getByRole("button").textContent(), "Copied", "the button says");
  t.same([await scrolled(), await pasted()], [before, code], "where the page is, and the command");
  await page.goto(base + "/d/reel/episodes/7?at=9");
  await page.getByRole("button", { name: "Copy a link" }).click();
  await page.getByText("Copied").waitFor();
  const link = new URL(await pasted());
  t.same([link.host, link.pathname, link.searchParams.get("at"), Boolean(link.searchParams.get("revision"))], [new URL(base).host, "/d/reel/episodes/7", "9", true], "the link");
}

// from any page to a section by its words, without JavaScript; a command is copied without what a shell prints before it
async function guide(t) {
  const plain = await t.open({ js: false });
  await plain.goto(t.base + "/d/reel");
  await plain.click('header a[href="/~guide"]');
  await plain.fill('form[aria-label="Guide"] input', "REWARDS look");
  await plain.press('form[aria-label="Guide"] input', "Enter");
  await plain.waitForURL("**/~guide?q=*");
  await plain.click('a[href="/~guide/start#look-at-it"]');
  await plain.waitForURL("**/~guide/start#look-at-it");
  await t.becomes(() => plain.$eval("#look-at-it", (h) => h.getBoundingClientRect().top < innerHeight), true, "the section is seen");
  const page = await t.open();
  await page.goto(t.base + "/~guide/start");
  t.same(await page.locator("pre.copy button").count(), await page.locator("pre.copy").count(), "buttons");
  const commands = await page.locator("pre.copy code").allTextContents();
  t.check(commands.some((c) => c.includes(t.base)) && !commands.some((c) => c.startsWith("$ ") || c.includes("hub:8080")), "commands", commands);
}

exports.rows = {
  "1 by mouse": async (t) => {
    const page = await t.open();
    await page.goto(t.base + "/");
    await page.click(DATASET);
    await page.click(SEVEN);
    await page.waitForURL("**/episodes/7");
    await arrived(t, page);
  },
  "1 by keyboard": by_keyboard,
  "1 by touch at 390 px": async (t) => {
    const page = await t.open({ width: 390, height: 844, hasTouch: true, isMobile: true });
    await page.goto(t.base + "/");
    await page.tap(DATASET);
    await page.tap(SEVEN);
    await page.waitForURL("**/episodes/7");
    await arrived(t, page);
  },
  "7 a command and a link are copied over plain http": plain_http,
  "2 without JavaScript": without,
  "the guide": guide,
};
