// main.js ROOTS [--all] [SUBJECT...]: runs the rows of each subject (a file of this folder) in a headless Chromium over one hub.
const path = require("path");
const kit = require("./kit.js");

const SUBJECTS = ["clicks", "lists", "views", "systems", "videos", "posters", "values", "hostile", "keys", "timeline", "reading", "compare", "tokens", "operations", "sizes"];

async function attempt(run, browser, hub, roots, all) {
  const test = new kit.Test(browser, hub, roots, all);
  try {
    await run(test);
  } catch (e) {
    test.say(e.stack.split("\n").slice(0, 12).join("\n    "));
  }
  await test.end();
  return test.wrong;
}

(async () => {
  const [roots, ...words] = process.argv.slice(2);
  const all = words.includes("--all"), chosen = words.filter((w) => w !== "--all");
  const browser = await kit.launch();
  const hub = await kit.serve(["samples", "lab"].map((name) => path.join(roots, name)));
  await hub.measured();
  let failed = 0, passed = 0;
  for (const name of chosen.length ? chosen : SUBJECTS) {
    const { rows, heavy = {} } = require(`./${name}.js`);
    for (const [row, run] of Object.entries(all ? { ...rows, ...heavy } : rows)) {
      const began = Date.now();
      const wrong = await attempt(run, browser, hub, roots, all);
      console.log(`${wrong.length ? "FAIL" : "ok  "}  ${name}: ${row} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
      for (const line of wrong) console.log(`    ${line}`);
      if (wrong.length) failed++;
      else passed++;
    }
  }
  await browser.close();
  await hub.stop();
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
})().catch((e) => { console.log(e); process.exit(1); });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
