// Signing in with a headless Chromium, and the pages of a private dataset: sign_in.js BASE TOKEN DATASET, whose episode 0 has curves and a
// video. Ends with 1 and a line for each thing that is wrong. Needs playwright-core (NODE_PATH) and Debian's chromium.
const kit = require("./kit.js");

const [base, token, id] = process.argv.slice(2);
const path = `/d/${id}/episodes/0`, wrong = [];
const say = (...words) => wrong.push(words.join(" "));
const same = (got, want, ...words) => got === want || say(...words, JSON.stringify(got), "instead of", JSON.stringify(want));

async function fill(page, text) {
  await page.fill("input[name=token]", text);
  const [answer] = await Promise.all([page.waitForNavigation(), page.click("form[action='/~login'] button")]);
  return answer;
}

async function sign_in(page) {
  await page.goto(base + path);
  same(page.url(), `${base}/~login?next=${encodeURIComponent(path)}`, "a private page leads to");
  const refused = await fill(page, token.slice(0, -1));
  same(refused.status(), 401, "a damaged token is answered with");
  same(await page.$$eval("form[action='/~login']", (forms) => forms.length), 1, "forms after that:");
  await fill(page, token);
  same(page.url(), base + path, "signing in leads to");
  same(await page.evaluate(() => document.cookie), "", "scripts see the cookies");
}

async function read(page) {
  page.on("response", (a) => a.status() >= 400 && say("answer", a.status(), "of", a.url()));
  page.on("console", (m) => m.type() === "error" && say("console:", m.text()));
  await page.goto(base + path);
  await page.waitForFunction(() => document.querySelector("figure.lane")?.dataset.drawn);
  await page.waitForFunction(() => [...document.querySelectorAll(".media video")].length && [...document.querySelectorAll(".media video")].every((v) => v.readyState >= 2));
  const shown = await page.$eval(".media video", (v) => new Promise((done) => {
    v.addEventListener("seeked", () => done([v.videoWidth > 0, v.currentTime > 0]), { once: true });
    v.currentTime = v.duration / 2;
  }));
  same(JSON.stringify(shown), "[true,true]", "a video that is sought");
  await page.goto(`${base}/?q=`);
  same(await page.$$eval("a", (links, to) => links.some((a) => a.getAttribute("href")?.startsWith(to)), `/d/${id}`), true, "the catalogue names it");
}

async function sign_out(page) {
  await Promise.all([page.waitForNavigation(), page.click("form[action='/~logout'] button")]);
  page.removeAllListeners("response");
  page.removeAllListeners("console");
  await page.goto(base + path);
  same(new URL(page.url()).pathname, "/~login", "after signing out a private page leads to");
  await page.goto(`${base}/?q=`);
  same((await page.content()).includes(id), false, "the catalogue names it");
}

(async () => {
  const browser = await kit.launch();
  const context = await browser.newContext();
  context.setDefaultTimeout(kit.DEADLINE_MS);
  const page = await context.newPage();
  for (const work of [sign_in, read, sign_out]) await work(page);
  await browser.close();
  if (wrong.length) console.error(wrong.join("\n"));
  process.exitCode = wrong.length ? 1 : 0;
})().catch((e) => { console.error(e); process.exit(1); });
