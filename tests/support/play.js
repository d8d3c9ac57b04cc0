// Plays videos in a headless Chromium and says what their frames are: play.js URL...  Prints a JSON array.
// Needs playwright-core (NODE_PATH) and Debian's chromium.
const { chromium } = require("playwright-core");

async function watch(url) {
  const video = document.createElement("video");
  video.muted = true;
  video.crossOrigin = "anonymous";
  document.body.append(video);
  const event = (name) => new Promise((yes, no) => {
    video.addEventListener(name, yes, { once: true });
    video.addEventListener("error", () => no(new Error(`${video.error.code} ${video.error.message}`)), { once: true });
  });
  // what is shown follows the event a little later
  const shown = () => new Promise((yes) => { video.requestVideoFrameCallback(yes); setTimeout(yes, 2000); });
  // the number that its black and white squares say: tests/support/videos.py
  const number = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    const picture = canvas.getContext("2d");
    picture.drawImage(video, 0, 0);
    let n = 0;
    for (let bit = 0; bit < 12; bit++)
      n |= (picture.getImageData((bit % 4) * 16 + 8, (bit >> 2) * 16 + 8, 1, 1).data[1] > 127) << bit;
    return n;
  };
  const loaded = event("loadeddata"), first = shown();
  video.src = url;
  await loaded;
  await first;
  const found = { duration: video.duration, first: number(), sought: [] };
  for (const at of [0.5, 0.9, 0.1]) {
    const frame = Math.floor(at * video.duration * 30);
    const sought = event("seeked"), there = shown();
    video.currentTime = (frame + 0.5) / 30;
    await sought;
    await there;
    found.sought.push([frame, number()]);
  }
  const ended = event("ended");
  await video.play();
  await ended;
  found.last = number();
  return found;
}

(async () => {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"] });
  const page = await browser.newPage();
  const all = [];
  for (const url of process.argv.slice(2))
    all.push(await page.evaluate(watch, url).catch((e) => ({ error: String(e).split("\n")[0] })));
  console.log(JSON.stringify(all));
  await browser.close();
})();
