// Posters: pictures of cameras, drawn where they are seen, one after the other. Until somebody moves they take 150 KB of a page at most.
const ALLOWED = 150 << 10;
const player = document.createElement("video");
[player.muted, player.playsInline, player.preload] = [true, true, "auto"];
const wanted = new Set();
let busy = false, spent = 0, most = ALLOWED;

const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) wanted[isIntersecting ? "add" : "delete"](target);
  next();
});

function next() {
  const canvas = [...wanted].find(({ dataset }) => spent + Number(dataset.bytes ?? 0) <= most);
  if (busy || !canvas || spent >= most) return;
  busy = true;
  wanted.delete(canvas);
  seen.unobserve(canvas);
  draw(canvas).catch(() => tell(canvas)).finally(() => { busy = false; next(); });
}

/** Its first frame. What is cut out is short, and is fetched whole. */
function frame_of(url) {
  return new Promise((done, failed) => {
    if (player.requestVideoFrameCallback) player.requestVideoFrameCallback(() => done(player)); // loaded is not drawn yet
    else player.onloadeddata = () => done(player);
    player.onerror = failed;
    player.src = url;
  });
}
const bytes_of = async (answer) => {
  if (!(await answer).ok) throw new Error((await answer).status);
  return Number((await answer).headers.get("Content-Length"));
};

/** Whether so many bytes may be spent; else it waits until somebody moves. */
function fits(canvas, bytes) {
  if (spent + bytes > most) {
    canvas.dataset.bytes = bytes;
    seen.observe(canvas);
    return false;
  }
  spent += bytes;
  return true;
}

async function draw(canvas) {
  let { kind, src } = canvas.dataset, drawn;
  if (kind === "dataset") {
    const [item] = (await (await fetch(src)).json()).items;
    if (!item) throw new Error("no picture");
    [kind, src] = [item.kind, new URL(item.url).pathname + new URL(item.url).search];
  }
  if (kind === "video") {
    if (!fits(canvas, Number(canvas.dataset.bytes ?? (await bytes_of(fetch(src, { method: "HEAD" })))))) return;
    drawn = await frame_of(src);
  } else {
    const given_up = new AbortController(), answer = await fetch(src, { signal: given_up.signal });
    if (!fits(canvas, await bytes_of(answer))) return given_up.abort();
    drawn = await createImageBitmap(await answer.blob());
  }
  put(canvas, drawn, drawn.videoWidth ?? drawn.width, drawn.videoHeight ?? drawn.height);
  drawn.close?.();
}

/** All of it, in the middle of the canvas, which stays as it is; of small pictures the pixels are seen. */
function put(canvas, drawn, width, height) {
  const scale = Math.min(canvas.width / width, canvas.height / height), [w, h] = [width * scale, height * scale];
  const on = canvas.getContext("2d");
  on.imageSmoothingEnabled = scale < 2;
  on.drawImage(drawn, (canvas.width - w) / 2, (canvas.height - h) / 2, w, h);
  canvas.classList.add("drawn");
  const size = canvas.closest("figure")?.querySelector(".size");
  if (size && !size.textContent) size.textContent = `, ${width} × ${height}`;
}

/** A tile says once why it has no picture; a row is whole without. */
function tell(canvas) {
  const figure = canvas.closest("figure"), { codecs } = canvas.dataset;
  canvas.classList.add("absent");
  if (!figure || figure.querySelector(".note")) return;
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = codecs && player.error?.code !== MediaError.MEDIA_ERR_NETWORK ? `This browser has no decoder for ${codecs}: download it from the episode.` : "This picture could not be fetched.";
  figure.querySelector(".posters").append(note);
}

const moved = () => { most = spent + Math.max(ALLOWED, ...[...wanted].map(({ dataset }) => Number(dataset.bytes ?? 0))); next(); };
for (const kind of ["scroll", "pointermove", "keydown", "touchstart"]) addEventListener(kind, moved, { passive: true });
const look = (part) => { for (const canvas of part.querySelectorAll("canvas.poster:not(.drawn, .absent)")) seen.observe(canvas); };
look(document);
// lists that are searched as one types, and pages that follow, have other rows later
new MutationObserver((changes) => { for (const { addedNodes } of changes) for (const node of addedNodes) if (node.nodeType === 1) look(node); })
  .observe(document.getElementById("main"), { childList: true, subtree: true });
