// Stored pictures follow the clock: the nearest one that is here stays, with its number, until the right one is. At most two are asked for
// at a time; ahead of the clock when it plays. Numbers that are no bytes are all drawn in the range of the first one, which is said.
import { clock, now, follow, revision } from "./clock.js";
import { make } from "./lanes.js";

const KEPT = 32 << 20, AHEAD = 16, MOST = 2;
let kept = 0;

class Picture {
  constructor(figure) {
    [this.figure, this.image, this.number] = [figure, figure.querySelector("img"), figure.querySelector(".n")];
    [this.source, this.rows, this.most] = [figure.dataset.src, Number(figure.dataset.rows), figure.dataset.ranged === "1" ? 1 : MOST];
    [this.cache, this.asked, this.step] = [new Map(), new Map(), -1];
  }

  row() { return Math.min(this.rows - 1, now()); }

  move() {
    const row = this.row(), ahead = row < this.last ? -1 : 1;
    this.show();
    this.last = row;
    // what is wanted, nearest first; what is under way and no longer wanted ends
    const wanted = Array.from({ length: clock.playing ? AHEAD : 3 }, (_, i) => row + i * ahead).filter((r) => r >= 0 && r < this.rows);
    for (const [r, request] of this.asked) if (!wanted.includes(r)) request.abort();
    for (const r of wanted) if (!this.cache.has(r) && !this.asked.has(r) && this.asked.size < this.most) this.load(r);
  }

  async load(row) {
    const request = new AbortController();
    this.asked.set(row, request);
    try {
      const answer = await fetch(`${this.source}?${new URLSearchParams({ row, format: "image", revision, ...this.range })}`, { signal: request.signal });
      if (!answer.ok) throw new Error(answer.status);
      this.hold(answer.headers.get("X-Range"));
      this.keep(row, await createImageBitmap(await answer.blob()));
    } catch {
      if (!request.signal.aborted) this.cache.set(row, undefined); // not to be had: not asked for again
    }
    this.asked.delete(row);
    this.move();
  }

  hold(range) {
    if (!range || this.range) return;
    [this.range, this.most] = [{ range }, MOST];
    range.split(",").forEach((value, i) => { this.figure.querySelector(i ? ".greatest" : ".least").textContent = Number(Number(value).toPrecision(5)); });
  }

  keep(row, bitmap) {
    this.cache.set(row, bitmap);
    kept += bitmap.width * bitmap.height * 4;
    for (const [other, old] of this.cache) {
      if (kept <= KEPT || other === row) break;
      kept -= old ? old.width * old.height * 4 : 0;
      old?.close();
      this.cache.delete(other);
    }
  }

  show() {
    const row = this.row();
    let nearest;
    for (const [r, bitmap] of this.cache) if (bitmap && !(Math.abs(r - row) >= Math.abs(nearest - row))) nearest = r;
    if (nearest === undefined || nearest === this.step) return;
    const bitmap = this.cache.get(nearest);
    if (!this.canvas) {
      this.canvas = make("canvas", { role: "img", "aria-label": this.image.alt, class: bitmap.width < 256 ? "small-picture" : "" });
      this.image.replaceWith(this.canvas);
    }
    if (this.canvas.width !== bitmap.width || this.canvas.height !== bitmap.height) [this.canvas.width, this.canvas.height] = [bitmap.width, bitmap.height];
    this.canvas.getContext("2d").drawImage(bitmap, 0, 0);
    this.number.textContent = this.step = nearest;
  }
}

const pictures = [...document.querySelectorAll("figure.picture")].map((figure) => new Picture(figure));
follow(() => { for (const picture of pictures) picture.move(); });
for (const picture of pictures) if (picture.most === 1) picture.move(); // for its scale
