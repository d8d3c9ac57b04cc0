// From one least or greatest value to the next: of the lane in focus, else of the one that was, else of the first that is seen.
import { root, last, now, set } from "./clock.js";
import { lanes } from "./lanes.js";

const step_of = (link) => Math.min(last, Number(new URL(link.href).searchParams.get("at")));
function links_of({ figure }) {
  const each = [...figure.querySelectorAll("li .extremes a, .extremes li a")];
  return each.length ? each : [...figure.querySelectorAll(".extremes a")];
}

let lane;
/** `write`: brings what the server says of other dimensions than it wrote; `say`: where one is now. */
export async function go(ahead, write, say) {
  const seen = ({ figure }) => figure.getBoundingClientRect().bottom > root.getBoundingClientRect().bottom;
  lane = lanes.find(({ figure }) => figure.contains(document.activeElement)) ?? (lanes.includes(lane) ? lane : lanes.find((one) => seen(one) && links_of(one).length));
  if (!lane) return;
  if (lane.name !== lane.is.lane) { // others are switched off than when they were written
    const focused = lane.figure.contains(document.activeElement);
    await write();
    if (focused) lane.figure.focus({ preventScroll: true });
  }
  const links = links_of(lane).sort((a, b) => (step_of(a) - step_of(b)) * (ahead ? 1 : -1));
  const next = links.find((link) => (ahead ? step_of(link) > now() : step_of(link) < now())) ?? links[0];
  if (!next) return;
  set(step_of(next));
  say(`${lane.figure.querySelector("h3 bdi").textContent}: ${next.closest("li")?.querySelector("bdi")?.textContent ?? ""} ${next.textContent}`);
}
