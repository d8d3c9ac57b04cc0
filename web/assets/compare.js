// Several episodes over each other: their values at the step of the clock, and the difference of the first two.
import { clock, view, follow, now } from "./clock.js";
import { Curves, EMPTY, begin, kinds, lanes, make } from "./lanes.js";

const REST = 100, MOST = 2000; // ms; steps of which each is asked for

/** Of two episodes step by step, the first less the second: of few enough steps to have each. */
class Difference extends Curves {
  constructor(figure) {
    super(figure);
    [this.shifts, this.named] = [[0], undefined];
  }

  async fetch(signal) {
    const ends = this.sides.map((side) => side.shift + side.steps);
    const from = Math.max(view.from, ...this.sides.map((side) => side.shift)), to = Math.min(view.to, ...ends);
    if (to - from > MOST) throw new Error(`a difference is drawn of ${MOST.toLocaleString("en")} steps at most: zoom in`);
    const [a, b] = await Promise.all(this.sides.map(({ tiles, shift }) => (from < to ? tiles.get(1, from - shift + this.rows[0], to - shift + this.rows[0], signal) : EMPTY)));
    const at = (part, side, step) => part.lines[0][step - side.shift + this.rows[0] - part.first] ?? null;
    const line = Array.from({ length: Math.max(0, to - from) }, (_, i) => {
      const [x, y] = [at(a, this.sides[0], from + i), at(b, this.sides[1], from + i)];
      return x === null || y === null ? null : x - y;
    });
    // rows of its own: row 0 is the first of the drawing
    this.parts = [{ ...EMPTY, first: from - this.shift, lines: [line] }];
    this.arrange();
  }
}

kinds.difference = Difference;
begin();

/** Beside the names of the episodes, once the clock rests; a page of one episode has a table of rows for that. */
async function tell(lane, step) {
  if (!lane.named || lane.shown_at === step) return;
  const got = await Promise.all(lane.sides.map(async ({ src, shift, steps, tiles }) => {
    const row = step - shift + lane.rows[0];
    if (!src || step < shift || step >= shift + steps) return "";
    const { lines, first } = await tiles.get(1, row, row + 1);
    return lines[0][row - first] ?? "not finite";
  })).catch(() => []);
  if (step !== now()) return;
  lane.shown_at = step;
  lane.places().forEach((place, i) => { (place.querySelector("output") ?? place.appendChild(make("output", { class: "n" }))).textContent = got[i] ?? ""; });
}
let rest;
function tell_all() {
  clearTimeout(rest);
  if (!clock.playing) rest = setTimeout(() => { for (const lane of lanes) if (lane.visible) tell(lane, now()); }, REST);
}
follow(tell_all);
addEventListener("scroll", tell_all, { passive: true }); // of those that come into sight
tell_all();
