// Videos: the frame that is shown is the frame of the step. Frames carry their number: tests/support/videos.py.
const { DEADLINE_MS, frames } = require("./kit.js");

// the number that the squares of a video's picture say
function number(video) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  const picture = canvas.getContext("2d");
  picture.drawImage(video, 0, 0);
  let n = 0;
  for (let bit = 0; bit < 12; bit++) n |= (picture.getImageData((bit % 4) * 16 + 8, (bit >> 2) * 16 + 8, 1, 1).data[1] > 127) << bit;
  return n;
}

// What a page is handed cannot name other functions, so these hold the one above.
// Whether all videos that play show these frames, three times in a row: a picture may come a little after its "seeked"
const steady = new Function("want", `${number};
  const videos = [...document.querySelectorAll(".media video")].filter((v) => !v.error && !v.hidden);
  window.seen = videos.map((v) => (v.seeking || v.readyState < 2 ? "none" : number(v)));
  window.times = String(window.seen) === String(want) ? (window.times ?? 0) + 1 : 0;
  return window.times > 2;`);

// Plays until `of` samples, 50 ms apart, have the first two videos in step and moving; what was seen last, at the deadline
const in_step = new Function("given", `${number};
  const [of, frames, deadline] = given, videos = [...document.querySelectorAll(".media video")], end = performance.now() + deadline;
  const scrub = document.querySelector(".transport input"), play = document.querySelector('.transport [aria-keyshortcuts="Space"]');
  play.click();
  let last = [];
  return new Promise((done) => {
    const timer = setInterval(() => {
      if (scrub.value === scrub.max && play.textContent === "Play") {
        play.click(); // from the beginning again
        last = [];
      }
      last = [...last, videos.map(number)].slice(-of);
      const far = last.filter(([a, b]) => Math.abs(a - b) > 1).length, moved = last.at(-1)[0] - last[0][0];
      const good = last.length === of && far <= of * 0.05 && moved >= frames;
      if (!good && performance.now() < end) return;
      clearInterval(timer);
      done({ good, far, moved });
    }, 50);
  });`);

const media = (t, id, episode) => t.hub.api(`/${id}/episodes/${episode}/~media`).then((m) => m.items);

async function open(t, path, more) {
  const page = await t.open(more);
  await page.goto(t.base + path);
  await page.waitForSelector(".transport input");
  await page.waitForFunction(() => [...document.querySelectorAll(".media video")].every((v) => v.readyState >= 2 || v.error));
  return page;
}

// Until the videos show these frames
async function showing(t, page, want, ...words) {
  await page.waitForFunction(steady, want).catch((e) => { if (e.name !== "TimeoutError") throw e; });
  t.same(await page.evaluate(() => { window.times = 0; return window.seen; }), want, ...words);
}

const seek = (page, step) => page.$eval(".transport input", (scrub, at) => { scrub.value = at; scrub.dispatchEvent(new Event("input")); }, step);

// `apart`: how far the numbers of two cameras are apart
async function sought(t, id, episode, count, apart = 0) {
  const items = await media(t, id, episode), page = await open(t, `/d/${id}/episodes/${episode}`);
  const steps = [0, items[0].frames - 1, ...Array.from({ length: count }, (_, i) => (i * 7919 + 13) % items[0].frames)];
  for (const step of steps) {
    await seek(page, step);
    await showing(t, page, items.map((m, i) => m.first_frame + step + i * apart), `${id} ${episode} step ${step}`);
  }
}

// Two cameras play in step, for so many seconds. How soon they get there is the machine's affair
async function together(t, rate, seconds) {
  const page = await open(t, "/d/reel/episodes/8");
  await page.selectOption(".transport select", String(rate));
  const samples = seconds * 20, { good, far, moved } = await page.evaluate(in_step, [samples, 30 * rate * seconds * 0.5, DEADLINE_MS]);
  t.check(good, `at rate ${rate}: in the last ${samples} samples the cameras moved by ${moved} frames, and were more than one apart in ${far}`);
}

exports.open = open;
exports.seek = seek;
exports.showing = showing;
exports.rows = {
  "11 seek: the frame of the step": async (t) => {
    await sought(t, "reel", 2, 12);
    await sought(t, "arm-v30", 1, 3, 2000);
  },
  "11 first and last frame of an episode in a shared file": async (t) => { for (const episode of [0, 5]) await sought(t, "reel", episode, 0); },
  "12 two cameras in step": (t) => together(t, 1, 3),
  "12 one camera waits, both wait": async (t) => {
    const page = await t.open();
    let release;
    const held = new Promise((go) => { release = go; });
    await page.route("**/~media/*wrist*", async (route) => { await held; await route.continue().catch(() => {}); });
    await page.goto(t.base + "/d/reel/episodes/8");
    await page.waitForSelector(".transport input");
    await page.click('.transport [aria-keyshortcuts="Space"]');
    await page.waitForFunction(() => document.querySelector(".media video").readyState >= 3);
    await frames(page, 40);
    t.check(Number(await page.inputValue(".transport input")) <= 1, "the clock does not wait for a camera");
    release();
    await page.waitForFunction(() => document.querySelector(".transport input").value > 3);
  },
  "17 episodes beside each other on one clock": async (t) => {
    const page = await t.open(), ends = [55, 40];
    await page.goto(t.base + "/d/reel/~compare?e=2&e=3&align=end");
    await page.waitForFunction(() => [...document.querySelectorAll(".media video")].every((v) => v.readyState >= 2));
    const items = await Promise.all([2, 3].map((n) => media(t, "reel", n)));
    for (const step of [20, 54, 3]) {
      await seek(page, step);
      const wanted = items.flatMap((cameras, i) => cameras.map((m) => m.first_frame + Math.max(0, step - (ends[0] - ends[i]))));
      await showing(t, page, wanted, `step ${step}`);
    }
    await page.click('.transport [aria-keyshortcuts="Space"]');
    await page.waitForFunction(() => document.querySelector(".transport input").value > 20 && document.querySelectorAll(".media video")[1].currentTime > 0.2);
  },
  "13 what cannot be played is said, the rest works": async (t) => {
    t.expected = [/~media/];
    const page = await open(t, "/d/unplayed/episodes/1");
    const said = async () => (await page.textContent(".media")).replace(/\s+/g, " ");
    await t.becomes(async () => /no decoder for .*mp4v\.20\.241/.test(await said()), true, "the codec is named");
    const words = await said();
    const within = (text) => page.locator(".media figure").filter({ hasText: text });
    t.check(/(20 to 49|has 43|fewer)/.test(await within("short").textContent()) && (await within("short").locator("video").count()) === 1, "the figure of a short file says nothing of it:", words);
    t.check(/gone.*its video is missing/.test(await within("gone").textContent()), "nothing is said of a camera without a file:", words);
    await seek(page, 4);
    await t.becomes(() => page.inputValue(".transport input"), "4", "the clock");
    await showing(t, page, [24], "the short video");
  },
};
exports.heavy = {
  "11 fifty steps": (t) => sought(t, "reel", 8, 50),
  "12 ten seconds at 0.5": (t) => together(t, 0.5, 10),
  "12 ten seconds at 1": (t) => together(t, 1, 10),
  "12 five seconds at 2": (t) => together(t, 2, 5),
};
