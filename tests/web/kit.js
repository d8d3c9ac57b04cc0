// A hub over given roots, a Chromium, and a test that hears of everything that goes wrong in its pages.
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { chromium } = require("playwright-core");

const DEADLINE_MS = 60000; // of everything that is waited for; a loaded machine is slow, and nothing waits longer than it has to

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const launch = (...more) => chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", ...more] });

class Hub {
  // `roots`: folders. The hub chooses its port; after halt() it starts again at the same one
  constructor(roots) {
    [this.roots, this.port] = [roots, 0];
    this.state = fs.mkdtempSync(path.join(os.tmpdir(), "hub-web-state-"));
  }
  async start() {
    const args = ["serve", "--state", this.state, "--listen", `127.0.0.1:${this.port}`, "--settle", "0", ...this.roots.flatMap((r) => ["--root", r])];
    const name = path.join(this.state, "web.log"), log = fs.openSync(name, "w");
    this.process = spawn(path.join(process.env.HUB_BIN, "minari-hub"), args, { stdio: ["ignore", log, log] });
    fs.closeSync(log);
    const child = this.process, kill = () => child.kill("SIGKILL");
    process.on("exit", kill); // no hub outlives the test that started it
    this.ended = new Promise((done) => child.on("exit", () => { process.off("exit", kill); done(); }));
    for (const end = Date.now() + 300000; Date.now() < end; await sleep(50)) {
      const said = fs.readFileSync(name, "utf8");
      if (child.exitCode !== null) throw new Error("the hub ended: " + said);
      this.port ||= Number(said.match(/ at http:\/\/127\.0\.0\.1:(\d+)/)?.[1] ?? 0);
      this.base = `http://127.0.0.1:${this.port}`;
      if (!this.port || !(await fetch(this.base + "/readyz").then((a) => a.ok, () => false))) continue;
      if (!(await this.api("?limit=1000")).items.some((d) => d.status === "pending")) return this;
    }
    throw new Error("the hub is not ready");
  }
  // what the API says below /api/v1/datasets
  async api(rest) {
    const answer = await fetch(`${this.base}/api/v1/datasets${rest}`);
    if (!answer.ok) throw new Error(`${answer.status} for ${rest}: ${await answer.text()}`);
    return answer.json();
  }
  // Returns once every part is measured: until then a page shows the values that are known so far.
  async measured() {
    for (const end = Date.now() + DEADLINE_MS; Date.now() < end; await sleep(50)) {
      const { measuring } = await (await fetch(this.base + "/api/v1/status")).json();
      if (measuring.parts === measuring.of_parts) return;
    }
    throw new Error("the hub does not finish measuring");
  }
  async halt() {
    this.process.kill("SIGTERM");
    await this.ended;
  }
  async stop() {
    await this.halt();
    fs.rmSync(this.state, { recursive: true, force: true });
  }
}
const serve = (roots) => new Hub(roots).start();

class Test {
  constructor(browser, hub, roots, all) {
    [this.browser, this.hub, this.base, this.roots, this.all, this.wrong, this.contexts] = [browser, hub, hub.base, roots, all, [], []];
    this.expected = []; // expressions: errors of the console and requests that are meant to be
  }
  say(...words) {
    if (this.wrong.length < 20) this.wrong.push(words.join(" "));
  }
  check(is, ...words) {
    if (!is) this.say(...words);
    return is;
  }
  same(got, want, ...words) {
    const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
    return this.check(a === b, ...words, a?.slice(0, 300), "instead of", b?.slice(0, 300));
  }
  // As `same`, of what `read` gives once it is what is wanted, or at the deadline
  async becomes(read, want, ...words) {
    let got = await read();
    for (const end = Date.now() + DEADLINE_MS; JSON.stringify(got) !== JSON.stringify(want) && Date.now() < end; got = await read()) await sleep(30);
    return this.same(got, want, ...words);
  }
  // A page in a browser of its own. `js`: false without; the rest as playwright has it
  async open({ width = 1280, height = 900, theme = "light", js = true, ...more } = {}, browser = this.browser) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, javaScriptEnabled: js, ...more });
    this.contexts.push(context);
    context.setDefaultTimeout(DEADLINE_MS);
    const page = await context.newPage();
    const meant = (text) => this.expected.some((e) => e.test(text));
    page.on("console", (m) => m.type() === "error" && !meant(m.text()) && this.say("console:", m.text(), m.location().url));
    page.on("pageerror", (e) => meant(e.message) || this.say("error of a script:", e.message));
    page.on("dialog", (d) => { this.say("a script of the data ran:", d.message()); d.dismiss(); });
    page.on("requestfailed", (r) => {
      const why = r.failure().errorText;
      if (!js && why === "csp") return; // modules that were to be there early
      if (why !== "net::ERR_ABORTED" && !meant(r.url())) this.say("request failed:", r.url(), why);
    });
    page.on("response", (a) => {
      if (a.status() >= 400 && !a.request().isNavigationRequest() && !meant(a.url())) this.say("answer", a.status(), "of", a.url());
    });
    return page;
  }
  async end() {
    for (const context of this.contexts) await context.close();
  }
}

// texts of the cells of a column of the first table that has rows; `n` from 0
const column = (page, n, table = "table") => page.$$eval(`${table} tbody tr`, (rows, i) => rows.map((r) => r.cells[i].textContent.trim()), n);

/** Until the timers of the page that are due within `ms` have run: for what must not happen. */
const pass = (page, ms) => page.evaluate((after) => new Promise((done) => setTimeout(done, after)), ms);

/** Until the page has drawn `count` frames. */
const frames = (page, count = 2) => page.evaluate((n) => new Promise((done) => requestAnimationFrame(function next() { n-- > 0 ? requestAnimationFrame(next) : done(); })), count);

/** Until the scripts of an episode have made what is to be seen without scrolling: the transport, the lanes, videos as large as they will be. */
async function settled(page) {
  await page.waitForFunction(() => {
    const seen = (e) => e.getBoundingClientRect().top < innerHeight && e.getBoundingClientRect().bottom > 0;
    const transport = document.querySelector(".transport"), videos = [...document.querySelectorAll("video")];
    if (document.readyState !== "complete" || videos.some((v) => !v.hidden && v.readyState < 1 && !v.error && v.networkState !== 3)) return false;
    return !transport || (transport.querySelector("input") && [...document.querySelectorAll("figure.lane")].every((f) => !seen(f) || !f.querySelector("svg.plot") || f.querySelector("[role=status]")));
  });
  await frames(page);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

module.exports = { DEADLINE_MS, Hub, Test, column, frames, launch, median, pass, serve, settled, sleep };
