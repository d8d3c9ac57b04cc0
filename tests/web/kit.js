// A hub over given roots, a Chromium, and a test that hears of everything that goes wrong in its pages.
const { spawn } = require("child_process");
const fs = require("fs");
const net = require("net");
const os = require("os");
const path = require("path");
const { chromium } = require("playwright-core");

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"] });

const free_port = () => new Promise((done) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

class Hub {
  // `roots`: folders. `port`, `state`: of a hub that was there before
  constructor(roots, port, state) {
    [this.roots, this.port, this.base] = [roots, port, `http://127.0.0.1:${port}`];
    this.state = state ?? fs.mkdtempSync(path.join(os.tmpdir(), "hub-web-state-"));
  }
  async start() {
    const args = ["serve", "--state", this.state, "--listen", `127.0.0.1:${this.port}`, "--settle", "0", ...this.roots.flatMap((r) => ["--root", r])];
    const log = fs.openSync(path.join(this.state, "web.log"), "a");
    this.process = spawn(path.join(process.env.HUB_BIN, "minari-hub"), args, { stdio: ["ignore", log, log] });
    fs.closeSync(log);
    this.ended = new Promise((done) => this.process.on("exit", done));
    for (const end = Date.now() + 300000; Date.now() < end; await sleep(50)) {
      if (this.process.exitCode !== null) throw new Error("the hub ended: " + fs.readFileSync(path.join(this.state, "web.log")));
      if (!(await fetch(this.base + "/readyz").then((a) => a.ok, () => false))) continue;
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
  async halt() {
    this.process.kill("SIGTERM");
    await this.ended;
  }
  async stop() {
    await this.halt();
    fs.rmSync(this.state, { recursive: true, force: true });
  }
}
const serve = async (roots, state) => new Hub(roots, await free_port(), state).start();

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
  // A page in a browser of its own. `js`: false without; the rest as playwright has it
  async open({ width = 1280, height = 900, theme = "light", js = true, ...more } = {}) {
    const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: theme, javaScriptEnabled: js, ...more });
    this.contexts.push(context);
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

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

module.exports = { Hub, Test, column, launch, median, serve, sleep };
