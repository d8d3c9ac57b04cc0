// What the keys of the timeline do.
import { make } from "./lanes.js";

const KEYS = [["Space", "play, pause"], ["Left, Right", "one step; with Shift ten, with Alt to the next mark"], ["Home, End", "first, last step"],
  ["w, s or +, -", "zoom in, out"], ["0", "the whole episode"], ["a, d", "move the window"], [", .", "slower, faster"], ["[ ]", "previous, next event: an end, another task, lost frames, values that are not finite"],
  ["e, E", "next, previous least or greatest value of the curve in focus"],
  ["j, k", "next, previous episode"], ["c", "enlarge the next camera"], ["Escape", "all cameras at the same size"], ["f", "flag this episode"], ["y", "copy a link"], ["?", "this help"]];

let help;
/** `change` is called with whether keys of one letter act from then on. */
export function show(single, change) {
  if (!help) make_help(single, change);
  help.showModal();
}

function make_help(single, change) {
  const named = make("dl", { class: "table" }), box = make("input", { type: "checkbox" }), label = make("label"), close = make("form", { method: "dialog" });
  help = make("dialog", { class: "keys", "aria-label": "Keys" });
  for (const [key, does] of KEYS) named.append(make("dt", {}, key), make("dd", {}, does));
  label.append(box, " Single-letter shortcuts");
  close.append(make("button", {}, "Close"));
  help.append(make("h2", {}, "Keys"), make("p", { class: "muted" }, "While the focus is in the timeline or in a curve. A drag in a curve, two fingers or Ctrl and the wheel zoom, a double click shows all. The pointer over a curve, or a finger that is held, reads values; a click goes to the step."), named, label, close);
  document.getElementById("main").append(help);
  box.checked = single;
  box.addEventListener("change", () => change(box.checked));
}
