// The rows at the cursor, exactly as stored: 64 around it in one answer, once it rests. Numbers stay the text they came as.
import { api, clock, now, follow, revision } from "./clock.js";
import { lanes, make } from "./lanes.js";
import { ask, field_of } from "./tiles.js";

const AROUND = 64, SHOWN = 12, REST = 60, LONGEST = 2000;
const rows = [...document.querySelectorAll("table.values tr[data-numbers]")].map((row) => {
  const link = row.querySelector("td:last-child a"), ahead = new URL(link.href).searchParams.get("row") - now(); // 1 of a shifted field
  return { row, link, ahead, field: field_of(link.href), numbers: Number(row.dataset.numbers) };
});
const many = rows.reduce((sum, { numbers }) => sum + numbers, 0) > 4096;
const blocks = new Map(); // first step -> field -> rows

// an integer that a double cannot hold stays text
const parse = (text) => JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (m) => (/^-?\d{16,}$/.test(m) ? `"${m}"` : m)));

async function block(step, signal) {
  const wide = many ? 4 : AROUND, start = Math.floor(step / wide) * wide;
  if (!blocks.has(start)) {
    const query = new URLSearchParams({ start, stop: start + wide, nonfinite: "string", format: "json", revision });
    for (const { field } of rows) query.append("fields", field);
    blocks.set(start, parse(await (await ask(`${api}?${query}`, signal)).text()));
    if (blocks.size > 64) blocks.delete(blocks.keys().next().value);
  }
  return [blocks.get(start), step - start];
}

// numbers that JSON has no word for, and those kept as text, stand as they are; other text within a list in quotes
const said = (value, within) => {
  if (Array.isArray(value)) {
    const most = within ? 4 : SHOWN, first = value.slice(0, most).map((v) => said(v, true)).join(", ");
    return value.length > most ? `[${first}] … ${value.length} in all` : `[${first}]`;
  }
  if (typeof value !== "string") return JSON.stringify(value) ?? "";
  const text = value.length > LONGEST ? `${value.slice(0, LONGEST)}\u2026 (${new TextEncoder().encode(value).length} bytes in all)` : value; // as without script
  return within && !/^(NaN|-?Infinity|-?\d{16,})$/.test(value) ? JSON.stringify(text) : text;
};

// what a JSON pointer names
const within = (row, pointer) => pointer.split("/").slice(1).reduce((v, name) => v?.[name.replace(/~1/g, "/").replace(/~0/g, "~")], row);

// beside the name of a lane of one curve
function read(lane, text) {
  lane.reading ??= lane.figure.querySelector("h3").appendChild(make("output", { class: "n" }));
  lane.reading.textContent = text;
}

function show(found, k, step) {
  for (const { row, link, ahead, field } of rows) {
    const values = found[field], cell = row.cells[1];
    row.hidden = !values || values[k] === undefined;
    if (row.hidden) continue;
    cell.firstElementChild.textContent = values[k] === null ? row.dataset.none : said(values[k]);
    const url = new URL(link.href);
    url.searchParams.set("row", step + ahead);
    link.href = url;
  }
  for (const lane of lanes) {
    const row = found[lane.field]?.[k], value = lane.is.dims[0] === "/" ? within(row, lane.is.dims) : row;
    if (lane.is.of === "sum" && lane.tiles) {
      const at = step + lane.rows[0];
      read(lane, "");
      lane.tiles.get(1, at, at + 1).then(({ first, lines }) => { if (step === now()) read(lane, said(lines[0][at - first] ?? "NaN")); }, () => {});
    }
    const flat = lane.is.of === "sum" || value === undefined ? [] : [value].flat(Infinity);
    const places = lane.figure.querySelectorAll("[data-dim]");
    if (!places.length) {
      const dim = flat.length === 1 ? 0 : Number(/^\d+$/.test(lane.is.dims) ? lane.is.dims : NaN);
      if (lane.is.of !== "sum") read(lane, said(flat[dim] ?? ""));
    }
    for (const place of places) {
      const output = place.querySelector("output") ?? place.appendChild(make("output", { class: "n" }));
      const over = place.parentElement.dataset.of; // a field that is drawn over the lane's own
      output.textContent = said((over ? [found[over]?.[k]].flat(Infinity) : flat)[Number(place.dataset.dim)]);
    }
  }
  document.getElementById("values").textContent = `At step ${step}`;
  document.querySelector('form[aria-label="Step"]').elements.at.value = step;
}

let pause, asked, shown;
async function load() {
  const step = now();
  asked?.abort();
  asked = new AbortController();
  try {
    const [found, k] = await block(step, asked.signal);
    if (step !== now()) return;
    show(found, k, step);
    shown = step;
  } catch { /* what is shown says its step */ }
}
/** Of lanes that came since. */
export function read_again() {
  shown = undefined;
  if (rows.length) load();
}
if (rows.length) {
  follow(() => {
    if (clock.playing || now() === shown) return;
    clearTimeout(pause);
    pause = setTimeout(load, REST);
  });
  load();
}
