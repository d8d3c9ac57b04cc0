// A draft that is followed in a headless Chromium: drafts.js BASE TOKEN DRAFT FOLDER, where DRAFT is the path of an open draft in the API.
// The files of FOLDER are sent while its page is seen. Ends with 1 and a line for each thing that is wrong. Needs playwright-core
// (NODE_PATH) and Debian's chromium.
const fs = require("fs"), path = require("path");
const kit = require("./kit.js");

const [base, token, draft, folder] = process.argv.slice(2);
const at = "/~drafts/" + draft.split("/").pop(), wrong = [];
const same = (got, want, ...words) => got === want || wrong.push([...words, JSON.stringify(got), "instead of", JSON.stringify(want)].join(" "));
const api = (method, where, body) => fetch(base + where, { method, body, headers: { Authorization: `Bearer ${token}` } });
const text = (page) => page.textContent("main");

async function sign_in(page) {
  await page.goto(base + "/~drafts");
  same(new URL(page.url()).pathname, "/~login", "drafts lead to");
  await page.fill("input[name=token]", token);
  await Promise.all([page.waitForNavigation(), page.click("form[action='/~login'] button")]);
  same(new URL(page.url()).pathname, "/~drafts", "signing in leads to");
  await page.goto(base + "/?q=");
  await Promise.all([page.waitForNavigation(), page.click("a.account[href='/~drafts']")]);
  await Promise.all([page.waitForNavigation(), page.click(`a[href='${at}']`)]);
}

async function follow(page) {
  await page.evaluate(() => { window.stayed = true; });
  for (const name of fs.readdirSync(path.join(folder, "data"))) {
    const sent = await api("PUT", `${draft}/files/data/${name}`, fs.readFileSync(path.join(folder, "data", name)));
    same(sent.status, 201, name, "is answered with");
    await page.waitForFunction((name) => document.querySelector("main").textContent.includes(name), name);
  }
  same((await api("POST", `${draft}/commit`)).status, 200, "the commit is answered with");
  await page.waitForFunction(() => document.querySelector("main a[href='/d/lab/door-v0']"));
  same(await page.evaluate(() => window.stayed), true, "the page that was opened is still there:");
  same((await text(page)).includes("published"), true, "it says that it is published:");
}

(async () => {
  const browser = await kit.launch();
  const context = await browser.newContext();
  context.setDefaultTimeout(kit.DEADLINE_MS);
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && wrong.push("console: " + m.text()));
  for (const work of [sign_in, follow]) await work(page);
  await browser.close();
  if (wrong.length) console.error(wrong.join("\n"));
  process.exitCode = wrong.length ? 1 : 0;
})().catch((e) => { console.error(e); process.exit(1); });
