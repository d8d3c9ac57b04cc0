// Text and files of a dataset are text and files, whatever they say.
const http = require("http");
const { pass } = require("./kit.js");

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'; report-uri /~csp";
const TEXT = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
const encoded = (id) => id.split("/").map(encodeURIComponent).join("/");

async function texts(t) {
  t.expected = [/status of 40[04]/, /~media/, /Failed to fetch/]; // the next page comes before the last one is whole
  const ids = (await t.hub.api("?prefix=odd&limit=100")).items.map((d) => d.id), page = await t.open();
  t.check(ids.length >= 3 && ids.some((id) => id.includes("<script>")), "hostile datasets:", ids);
  const q = encodeURIComponent(TEXT + "\u202e");
  const views = ["/", `/?q=${q}`, `/?format=${q}`, `/?cursor=${q}`, `/d/${q}`, `/${q}`];
  for (const id of ids) for (const view of ["", "/episodes", `/episodes?where=${q}`, `/episodes?split=${q}&sort=${q}`, "/episodes/0", `/episodes/0?at=${q}`, `/episodes/0?at=99999999999999999999&lanes=${q}`, "/files", "/files?prefix=data/", `/files?prefix=${q}`, "/~statistics", "/~findings", "/~compare?e=0", `/~compare?e=0&e=${q}`, `/~compare?e=0&align=${q}&lanes=${q}`, "/~use?e=0", `/~use?e=${q}`]) views.push(`/d/${encoded(id)}${view}`);
  for (const view of views) {
    const answer = await page.goto(t.base + view), body = await answer.text();
    t.check(answer.status() < 500, answer.status(), "for", view);
    t.check(body.length < 300000, view, body.length, "bytes of HTML");
    t.check(!/[\u202a-\u202e\u2066-\u2069\u0000]/.test(body), view, "has characters that turn text");
    const found = await page.evaluate(() => [
      ...[...document.querySelectorAll("script")].filter((s) => !s.getAttribute("src")?.startsWith("/~assets/")),
      ...document.querySelectorAll('img[src="x"], iframe, object, embed, base, [srcdoc], main style, main b > b, a[href^="javascript" i], form[action^="javascript" i]'),
      ...[...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on")))].map((e) => e.outerHTML.slice(0, 150)));
    t.same(found, [], view, "elements");
  }
  const shown = async (path, ...want) => {
    await page.goto(t.base + path);
    const text = await page.textContent("main");
    for (const words of want) t.check(text.includes(words), path, "does not show", words);
  };
  const odd = ids.find((id) => id.includes("<script>"));
  await shown(`/d/${encoded(odd)}`, TEXT, "U+202E", "javascript:alert(3)", "{{text}}", "bytes in all");
  await shown("/d/odd/hostile-reel/episodes/0", "<img src=x onerror=alert(2)>", "U+202E", TEXT);
  await page.goto(t.base + "/");
  await page.fill("input[type=search]", TEXT);
  await page.waitForURL("**/?q=*");
}

const SINKS = {
  script: (url) => new Promise((done) => { const e = document.createElement("script"); e.onload = () => done("loaded"); e.onerror = () => done(""); try { e.src = url; } catch { return done(""); } document.head.append(e); }),
  stylesheet: (url) => new Promise((done) => { const e = document.createElement("link"); e.rel = "stylesheet"; e.onload = () => done("loaded"); e.onerror = () => done(""); e.href = url; document.head.append(e); }),
  module: (url) => import(url).then(() => "loaded", () => ""),
  worker: (url) => new Promise((done) => { try { const w = new Worker(url); w.onmessage = () => done("ran"); w.onerror = () => done(""); setTimeout(() => done(""), 500); } catch { done(""); } }),
  iframe: (url) => new Promise((done) => { const e = document.createElement("iframe"); e.onload = () => done(e.contentDocument?.body?.textContent ?? ""); setTimeout(() => done(""), 400); e.src = url; document.body.append(e); }),
  object: (url) => new Promise((done) => { const e = document.createElement("object"); e.onload = () => done(e.contentDocument?.body?.textContent ?? ""); e.onerror = () => done(""); setTimeout(() => done(""), 400); try { e.data = url; } catch { return done(""); } document.body.append(e); }),
};

// by the policy of a page, and, as nosniff and the types alone must do, without it
async function files(t) {
  t.expected = [/./];
  const names = (await t.hub.api("/odd/files-v0/files")).items.map((f) => f.path).filter((p) => /\/x|worker/.test(p));
  t.check(names.length >= 11, "files:", names);
  for (const bypassCSP of [false, true]) {
    const page = await t.open({ bypassCSP });
    await page.goto(t.base + "/");
    for (const name of names) for (const [sink, run] of Object.entries(SINKS)) {
      if ((sink === "iframe" || sink === "object") && !/html|svg|txt/.test(name)) continue;
      const got = await page.evaluate(run, `${t.base}/api/v1/datasets/odd/files-v0/files/${name}`);
      t.check(!got, `${bypassCSP ? "without a policy" : "here"}: ${name} as ${sink}: ${got}`);
    }
    t.check(!(await page.evaluate(() => window.ran)), "a file ran");
  }
  const page = await t.open({ acceptDownloads: true });
  for (const name of names) {
    const url = `${t.base}/api/v1/datasets/odd/files-v0/files/${name}`, [download] = await Promise.all([page.waitForEvent("download").catch(() => null), page.goto(url).catch(() => null)]);
    t.check(download, name, "is opened, not downloaded");
    await download?.delete();
  }
  const { headers } = await fetch(`${t.base}/api/v1/datasets/odd/files-v0/files/data/x.html`);
  t.same([headers.get("content-type"), headers.get("x-content-type-options"), headers.get("content-security-policy")], ["application/octet-stream", "nosniff", "sandbox; default-src 'none'"], "headers of a file");
}

const head = (url, headers = {}) => new Promise((done) => http.get(url, { headers: { Accept: "text/html", ...headers } }, (answer) => { answer.resume(); done(answer); }));

async function headers(t) {
  const door = "/d/D4RL/door/human-v2";
  for (const view of ["/", "/~operations", "/~guide", "/~guide/start", "/~guide/none", "/~guide?q=a", "/d/nope-v0", "/?bogus=1", door, ...["episodes", "episodes?where=retur", "episodes/1", "episodes/999", "files", "~statistics", "~findings", "~compare?e=1", "~use"].map((v) => `${door}/${v}`)]) {
    const { headers: h, statusCode } = await head(t.base + view);
    t.same(h["content-security-policy"], POLICY, statusCode, view);
    t.same([h["content-type"], h["x-content-type-options"], h["referrer-policy"], h["cross-origin-resource-policy"], h["permissions-policy"], h["access-control-allow-origin"], h["set-cookie"]],
      ["text/html; charset=utf-8", "nosniff", "same-origin", "same-origin", "camera=(), microphone=(), geolocation=()", undefined, undefined], view);
    if (statusCode === 200 && h.etag) {
      const again = await head(t.base + view, { "If-None-Match": h.etag });
      t.same(again.statusCode, 304, view, "asked again");
    }
  }
  const asset = await (await fetch(t.base + "/", { headers: { Accept: "text/html" } })).text().then((text) => text.match(/\/~assets\/\w+\/style.css/)[0]);
  const { headers: h } = await head(t.base + asset);
  t.same([h["access-control-allow-origin"], h["x-content-type-options"]], [undefined, "nosniff"], "an asset");
}

async function planted(t) {
  t.expected = [/Content Security Policy|Trusted|127.0.0.1:1\//];
  const page = await t.open();
  await page.addInitScript(() => { window.told = []; document.addEventListener("securitypolicyviolation", (e) => window.told.push(e.effectiveDirective)); });
  await page.route("**/d/reel", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replace("</main>", "<script>window.ran = 1</script><p style='color: red' onclick='ran = 1'>x</p><img src='http://127.0.0.1:1/x.png'></main>") });
  });
  await page.goto(t.base + "/d/reel");
  await page.click("p[onclick]");
  const wrote = await page.evaluate(() => {
    const tries = { innerHTML: () => { document.body.innerHTML = "<p>x</p>"; }, outerHTML: () => { document.body.firstElementChild.outerHTML = "<p>x</p>"; }, insert: () => document.body.insertAdjacentHTML("beforeend", "<p>x</p>"), write: () => document.write("x"),
      parser: () => new DOMParser().parseFromString("<p>x</p>", "text/html"), srcdoc: () => { document.createElement("iframe").srcdoc = "x"; }, timer: () => setTimeout("window.ran = 2", 0), source: () => { document.createElement("script").src = "/x.js"; } };
    return Object.entries(tries).filter(([, run]) => { try { run(); return true; } catch { return false; } }).map(([name]) => name);
  });
  t.same(wrote, [], "written");
  await pass(page, 100);
  t.check(!(await page.evaluate(() => window.ran)), "what was planted ran");
  const directives = ["img-src", "require-trusted-types-for", "script-src-attr", "script-src-elem", "style-src-attr"];
  await t.becomes(() => page.evaluate((all) => all.filter((one) => window.told.includes(one)), directives), directives, "reported");
}

exports.rows = { "21 hostile text": texts, "22 files of a dataset": files, "23 headers": headers, "23 planted scripts and markup": planted };
