// The videos of episodes beside each other, on one clock: step s of the drawings is step s - shift of each.
const media = document.querySelector(".media");
const span = Number(media.dataset.span);
const sides = [...media.querySelectorAll(".side")].map(({ dataset, firstElementChild }) => ({
  video: firstElementChild.querySelector("video"), shift: Number(dataset.shift), fps: Number(dataset.fps) || 30,
}));
const play = document.createElement("button"), scrub = document.createElement("input"), said = document.createElement("output");
play.type = "button";
Object.assign(scrub, { type: "range", min: 0, max: Math.max(0, span - 1), step: 1, value: 0 });
scrub.setAttribute("aria-label", "Step");
const bar = document.createElement("div");
bar.className = "both";
bar.setAttribute("role", "group");
bar.setAttribute("aria-label", "Videos");
bar.append(play, scrub, said);
media.before(bar);

let step = 0, playing = false, before;
function show() {
  scrub.value = Math.floor(step);
  said.textContent = `${Math.floor(step)} / ${scrub.max}`;
  play.textContent = playing ? "Pause" : "Play";
  for (const { video, shift, fps } of sides) {
    // before its first step and behind its last one a video stands still
    const wanted = (Math.max(0, (playing ? step : Math.floor(step)) - shift) + 0.5) / fps, inside = step >= shift && !(wanted >= video.duration);
    if (playing && inside) {
      if (Math.abs(video.currentTime - wanted) > 0.25 && !video.seeking) video.currentTime = wanted;
      if (video.paused) video.play().catch(() => {});
    } else {
      video.pause();
      const at = Math.min(wanted, Math.max(0, (video.duration || wanted) - 0.5 / fps));
      if (!video.seeking && Math.abs(video.currentTime - at) > 0.25 / fps) video.currentTime = at;
    }
  }
}
function tick(time) {
  if (!playing) return;
  step += ((time - (before ?? time)) / 1000) * sides[0].fps;
  before = time;
  if (step >= span) [step, playing] = [span - 1, false];
  show();
  requestAnimationFrame(tick);
}
play.addEventListener("click", () => {
  playing = !playing;
  before = undefined;
  if (playing && step >= span - 1) step = 0;
  show();
  requestAnimationFrame(tick);
});
scrub.addEventListener("input", () => { [step, playing] = [Number(scrub.value), false]; show(); });
for (const { video } of sides) {
  video.controls = false;
  for (const event of ["loadedmetadata", "seeked"]) video.addEventListener(event, () => { if (!playing) show(); });
}
show();
