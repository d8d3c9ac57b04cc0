// One clock and one window for all that an episode shows: steps, real while it plays. Who follows them listens.
export const root = document.querySelector(".transport");
const given = (name) => Number(root.dataset[name]);
export const steps = given("steps"), last = Math.max(0, steps - 1), least = Math.min(8, steps);
export const api = root.dataset.src.replace(/^#$/, ""), revision = root.dataset.revision;
export const clock = { step: given("at"), playing: false, rate: 1, sps: given("fps") || 30, timed: given("fps") > 0 };
export const view = { from: given("from"), to: given("to") };
export const now = () => Math.min(last, Math.floor(clock.step));

const followers = [];
export function follow(f) { followers.push(f); }
/** moved: the window is another one. */
export function tell(moved) { for (const f of followers) f(moved); }

export function look(from, to) {
  const span = Math.max(least, Math.min(steps, Math.round(to - from)));
  const start = Math.max(0, Math.min(steps - span, Math.round(from)));
  if (start === view.from && start + span === view.to) return;
  [view.from, view.to] = [start, start + span];
  tell(true);
}
/** By a factor, around a step that stays where it is. */
export function zoom(factor, around = view.from <= clock.step && clock.step < view.to ? clock.step : (view.from + view.to) / 2) {
  const span = Math.max(least, Math.min(steps, (view.to - view.from) * factor)), part = (around - view.from) / (view.to - view.from);
  look(around - part * span, around - part * span + span);
}
export function pan(part) {
  const by = Math.round((view.to - view.from) * part) || Math.sign(part);
  look(view.from + by, view.to + by);
}
// the window goes with the clock
function move(step) {
  const span = view.to - view.from;
  clock.step = Math.max(0, Math.min(last, step));
  if (now() >= view.from && now() < view.to) return tell(false);
  const start = clock.playing ? now() : now() - span / 2;
  const before = view.from;
  look(start, start + span);
  if (view.from === before) tell(false);
}

let before;
function tick(time) {
  if (!clock.playing) return;
  if (!clock.waits?.()) move(Math.min(last, clock.step + ((time - before) / 1000) * clock.sps * clock.rate));
  before = time;
  if (clock.step >= last) run(false);
  else requestAnimationFrame(tick);
}
export function run(playing) {
  if (playing && clock.step >= last) clock.step = 0;
  clock.playing = playing;
  before = performance.now();
  if (!playing) clock.step = now();
  move(clock.step);
  if (playing) requestAnimationFrame(tick);
}
export function set(step) {
  clock.playing = false;
  move(Math.floor(step));
}
