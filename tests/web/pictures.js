// Pictures of numbers in a headless Chromium: pictures.js BASE DATASET FIELD...  Ends with 1 and a line for each thing that is wrong.
// The first field is depth: all of its rows are drawn in the range of the one that was shown first, which the page says.
const kit = require("./kit.js");

const [base, id, ...fields] = process.argv.slice(2);
const wrong = [];
const say = (...words) => wrong.push(words.join(" "));
const figure = (field) => `.picture[data-src$="/episodes/0/${field}"]`;

/** Whether the canvas of a field shows what the hub draws of a row. */
const same = (page, field, query) => page.evaluate(async ([selector, asked]) => {
  const place = document.querySelector(selector), canvas = place.querySelector("canvas");
  const bitmap = await createImageBitmap(await (await fetch(`${place.dataset.src}?${asked}`)).blob());
  const other = new OffscreenCanvas(bitmap.width, bitmap.height);
  other.getContext("2d").drawImage(bitmap, 0, 0);
  const [a, b] = [canvas, other].map((c) => c.getContext("2d").getImageData(0, 0, bitmap.width, bitmap.height).data);
  return canvas.width === bitmap.width && a.every((v, i) => v === b[i]);
}, [figure(field), query]);

(async () => {
  const browser = await kit.launch(), page = await browser.newPage();
  page.setDefaultTimeout(kit.DEADLINE_MS);
  page.on("console", (m) => m.type() === "error" && say("console:", m.text()));
  page.on("pageerror", (e) => say("error:", e.message));
  await page.goto(`${base}/d/${id}/episodes/0`);
  await page.waitForSelector(".transport input");
  const moved = (row) => page.evaluate((s) => { const i = document.querySelector(".transport input"); i.value = s; i.dispatchEvent(new Event("input")); }, row);
  const shown = (row) => page.waitForFunction(([all, n]) => all.every((one) => document.querySelector(one)?.querySelector("canvas") && document.querySelector(`${one} .n`).textContent === n), [fields.map(figure), String(row)]);
  await moved(1);
  await shown(1);
  const range = (await Promise.all([".least", ".greatest"].map((end) => page.textContent(`${figure(fields[0])} ${end}`)))).join(",");
  for (const row of [0, 2]) {
    await moved(row);
    await shown(row);
    for (const [i, field] of fields.entries())
      if (!(await same(page, field, `row=${row}&format=image${i ? "" : `&range=${range}`}`))) say(field, "row", row, "is another one");
  }
  await browser.close();
  for (const line of wrong) console.log(line);
  process.exit(wrong.length ? 1 : 0);
})().catch((e) => { console.log(e); process.exit(2); });
