// Bytes, requests and times. Those of --all are printed: look at them beside those of the last run.
const http = require("http");
const path = require("path");
const kit = require("./kit.js");

const door = "/d/D4RL/door/human-v2";

// what a view costs that was never seen, and once more
async function cost(t, page, view) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  const requests = new Map();
  cdp.on("Network.responseReceived", (e) => {
    const r = requests.get(e.requestId) ?? {};
    requests.set(e.requestId, { ...r, url: e.response.url, status: r.status ?? (e.hasExtraInfo ? undefined : e.response.status), cached: e.response.fromDiskCache || r.cached });
  });
  cdp.on("Network.responseReceivedExtraInfo", (e) => requests.set(e.requestId, { ...requests.get(e.requestId), status: e.statusCode }));
  cdp.on("Network.requestServedFromCache", (e) => requests.set(e.requestId, { ...requests.get(e.requestId), cached: true }));
  cdp.on("Network.loadingFinished", (e) => requests.set(e.requestId, { ...requests.get(e.requestId), bytes: e.encodedDataLength }));
  cdp.on("Network.loadingFailed", (e) => requests.set(e.requestId, { ...requests.get(e.requestId), bytes: 0 })); // given up by the page
  await page.goto(t.base + view);
  await kit.settled(page);
  await page.waitForLoadState("networkidle");
  const found = () => [...requests.values()].filter((r) => r.url?.startsWith(t.base));
  await t.becomes(() => found().filter((r) => !r.cached && (!r.status || r.bytes === undefined)), [], view, "answers that are not whole"); // their events have no order
  await cdp.detach();
  return found();
}

const is_code = (t, view) => (r) => r.url.includes("/~assets/") || r.url === t.base + view;
const sum = (list) => list.reduce((all, r) => all + (r.bytes ?? 0), 0);

function timed(url) {
  const began = performance.now();
  return new Promise((done, fail) => http.get(url, { headers: { Accept: "text/html", "Accept-Encoding": "gzip" } }, (answer) => {
    let bytes = 0;
    answer.on("data", (d) => { bytes += d.length; });
    answer.on("end", () => done({ status: answer.statusCode, bytes, ms: performance.now() - began, next: null }));
  }).on("error", fail));
}

async function million(t) {
  const hub = await kit.serve([path.join(t.roots, "episodes")]);
  try {
    const at = "/d/million";
    for (const view of ["", "/episodes", ...["steps", "-steps", "return", "-return", "-number"].map((s) => `/episodes?sort=${s}`), "/episodes?where=steps%20%3D%202&sort=-return", "/episodes?number=777777", "/episodes/777777", "/~statistics", "/~findings"]) {
      const runs = [];
      for (let i = 0; i < 5; i++) runs.push(await timed(hub.base + at + view));
      const ms = kit.median(runs.map((r) => r.ms)), { bytes, status } = runs[0];
      console.log(`      ${view || "/"}: ${runs[0].ms.toFixed(0)} ms first, ${ms.toFixed(0)} ms, ${bytes} bytes`);
      t.check(status < 400 && bytes <= 14336, view, status, bytes, "bytes");
      t.check(ms <= 300, view, ms.toFixed(0), "ms");
    }
  } finally {
    await hub.stop();
  }
}

// medians of 5: text is there, curves are there, a zoom is answered
async function times(t) {
  const hub = await kit.serve([path.join(t.roots, "steps")]);
  try {
    for (const [name, base, view] of [["8 episodes", t.base, door + "/episodes/1"], ["a million steps", hub.base, "/d/long-v0/episodes/0"]]) {
      const runs = { paint: [], load: [] };
      for (let i = 0; i < 5; i++) {
        const page = await t.open();
        await page.goto(base + view, { waitUntil: "load" });
        const [paint, load] = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime, performance.timing.loadEventStart - performance.timing.navigationStart]);
        const began = await page.evaluate(() => performance.timeOrigin);
        await page.waitForSelector(".transport");
        const ready = Date.now() - began;
        runs.paint.push(paint ?? load);
        runs.load.push(ready);
        await page.context().close();
      }
      console.log(`      ${name}: painted ${kit.median(runs.paint).toFixed(0)} ms, timeline ${kit.median(runs.load).toFixed(0)} ms`);
    }
  } finally {
    await hub.stop();
  }
}

exports.rows = {
  "29 bytes and requests of first views": async (t) => {
    for (const [view, limit] of [["/", 30], [door, 40], [door + "/episodes/1", 58]]) {
      const page = await t.open(), first = await cost(t, page, view), code = first.filter(is_code(t, view));
      t.check(sum(code) <= limit * 1024, view, sum(code), "bytes of page and code");
      t.check(code.length <= 14, view, code.length, "requests of page and code");
      t.check(sum(first) - sum(code) <= 250 * 1024, view, sum(first) - sum(code), "bytes of data");
      console.log(`      ${view}: ${sum(code)} bytes of page and code, ${first.length} requests, ${code.length} of them page and code`);
      let status;
      for (const end = Date.now() + kit.DEADLINE_MS; status !== 304 && Date.now() < end;) { // what is measured meanwhile changes the page
        await page.goto("about:blank");
        const again = await cost(t, page, view), sent = again.filter((r) => r.url.includes("/~assets/") && !r.cached);
        t.same(sent.map((r) => r.url), [], view, "assets asked for again");
        status = again.find((r) => r.url === t.base + view)?.status;
      }
      t.check(status === 304, view, "again is", status);
    }
  },
};
exports.heavy = { "28 a million episodes": million, "30 times": times };
