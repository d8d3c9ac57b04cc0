// Videos: the frame that is shown is the frame of the step. Frames carry their number: tests/support/videos.py.
const { sleep } = require("./kit.js");

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

// of all videos at one moment: what a page is handed cannot name other functions
const both = new Function("videos", `${number}; return videos.map(number);`);

const media = (t, id, episode) => t.hub.api(`/${id}/episodes/${episode}/~media`).then((m) => m.items);

async function open(t, path, more) {
  const page = await t.open(more);
  await page.goto(t.base + path);
  await page.waitForSelector(".transport input");
  await page.waitForFunction(() => [...document.querySelectorAll(".media video")].every((v) => v.readyState >= 2 || v.error));
  return page;
}

// until no video seeks and what it found has been painted
const settle = (page) => page.evaluate(async () => {
  const videos = [...document.querySelectorAll(".media video")].filter((v) => !v.error);
  for (let quiet = 0, end = performance.now() + 4000; quiet < 3 && performance.now() < end;) {
    await new Promise((done) => setTimeout(done, 30));
    quiet = videos.some((v) => v.seeking || v.readyState < 2) ? 0 : quiet + 1;
  }
});

const seek = async (page, step) => {
  await page.$eval(".transport input", (scrub, at) => { scrub.value = at; scrub.dispatchEvent(new Event("input")); }, step);
  await settle(page);
};

// `apart`: how far the numbers of two cameras are apart
async function sought(t, id, episode, count, apart = 0) {
  const items = await media(t, id, episode), page = await open(t, `/d/${id}/episodes/${episode}`);
  const steps = [0, items[0].frames - 1, ...Array.from({ length: count }, (_, i) => (i * 7919 + 13) % items[0].frames)];
  for (const step of steps) {
    await seek(page, step);
    const got = await Promise.all((await page.$$(".media video")).map((v) => v.evaluate(number)));
    t.same(got, items.map((m, i) => m.first_frame + step + i * apart), `${id} ${episode} step ${step}`);
  }
}

// two cameras play in step: their codes, told apart every 50 ms
async function together(t, rate, seconds) {
  const page = await open(t, "/d/reel/episodes/8");
  await page.selectOption(".transport select", String(rate));
  await page.click('.transport [aria-keyshortcuts="Space"]');
  let far = 0, last = 0;
  const samples = seconds * 20;
  for (let i = 0; i < samples; i++) {
    await sleep(50);
    const codes = await page.$$eval(".media video", both);
    far += Math.abs(codes[0] - codes[1]) > 1;
    last = codes[0];
  }
  t.check(last > 345 + 30 * rate * seconds * 0.5, "it does not play: frame", last);
  t.check(far / samples <= 0.05, `at rate ${rate}: ${far} of ${samples} samples are more than a frame apart`);
}

exports.number = number;
exports.open = open;
exports.seek = seek;
exports.settle = settle;
exports.rows = {
  "11 seek: the frame of the step": async (t) => {
    await sought(t, "reel", 2, 12);
    await sought(t, "arm-v30", 1, 3, 2000);
  },
  "11 first and last frame of an episode in a shared file": async (t) => { for (const episode of [0, 5]) await sought(t, "reel", episode, 0); },
  "12 two cameras in step": (t) => together(t, 1, 3),
  "12 one camera waits, both wait": async (t) => {
    const page = await t.open();
    let held = [];
    await page.route("**/~media/*wrist*", async (route) => { await new Promise((go) => held.push(go)); await route.continue().catch(() => {}); });
    await page.goto(t.base + "/d/reel/episodes/8");
    await page.waitForSelector(".transport input");
    await page.click('.transport [aria-keyshortcuts="Space"]');
    await sleep(700);
    t.check(Number(await page.inputValue(".transport input")) <= 1, "the clock does not wait for a camera");
    held.forEach((go) => go());
    await page.unroute("**/~media/*wrist*");
    await page.waitForFunction(() => document.querySelector(".transport input").value > 3);
  },
  "17 episodes beside each other on one clock": async (t) => {
    const page = await t.open(), ends = [55, 40];
    await page.goto(t.base + "/d/reel/~compare?e=2&e=3&align=end");
    await page.waitForFunction(() => [...document.querySelectorAll(".media video")].every((v) => v.readyState >= 2));
    const items = await Promise.all([2, 3].map((n) => media(t, "reel", n)));
    for (const step of [20, 54, 3]) {
      await page.$eval(".both input", (scrub, at) => { scrub.value = at; scrub.dispatchEvent(new Event("input")); }, step);
      await settle(page);
      const wanted = items.flatMap((cameras, i) => cameras.map((m) => m.first_frame + Math.max(0, step - (ends[0] - ends[i]))));
      t.same(await Promise.all((await page.$$(".media video")).map((v) => v.evaluate(number))), wanted, `step ${step}`);
    }
    await page.click(".both button");
    await page.waitForFunction(() => document.querySelector(".both input").value > 20 && document.querySelectorAll(".media video")[1].currentTime > 0.2);
  },
  "13 what cannot be played is said, the rest works": async (t) => {
    t.expected = [/~media/];
    const page = await open(t, "/d/unplayed/episodes/1");
    await sleep(300);
    const words = (await page.textContent(".media")).replace(/\s+/g, " ");
    t.check(/no decoder for .*mp4v\.20\.241/.test(words), "nothing is said of a codec:", words);
    t.check(/short.*(20 to 49|has 43|fewer)/.test(words), "nothing is said of a short file:", words);
    await seek(page, 4);
    t.check((await page.inputValue(".transport input")) === "4", "the clock does not move");
    const handles = await page.$$(".media video");
    t.check(await handles[handles.length - 1].evaluate(number) === 24, "the short video does not seek");
  },
};
exports.heavy = {
  "11 fifty steps": (t) => sought(t, "reel", 8, 50),
  "12 ten seconds at 0.5": (t) => together(t, 0.5, 10),
  "12 ten seconds at 1": (t) => together(t, 1, 10),
  "12 five seconds at 2": (t) => together(t, 2, 5),
};
