// The colours of style.css as a browser has them: contrast by WCAG, distance of the series for four kinds of sight.
const TEXT = ["text", "muted", "link", "ok", "warn", "bad"];
const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const light_of = (hex) => linear(hex).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => {
  const [low, high] = [light_of(a), light_of(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const times = (matrix, v) => matrix.map((row) => row.reduce((sum, m, i) => sum + m * v[i], 0));
// Machado, Oliveira, Fernandes 2009, severity 1
const SIGHTS = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const oklab = (rgb) => {
  const lms = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], rgb).map(Math.cbrt);
  return times([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]], lms);
};

async function colours(t, theme) {
  const page = await t.open({ theme });
  await page.goto(t.base + "/");
  const names = ["bg", "surface", "selected", "on-link", "control", "focus", ...TEXT, ...Array.from({ length: 8 }, (_, i) => `s${i + 1}`)];
  const of = await page.evaluate((all) => Object.fromEntries(all.map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim()])), names);
  for (const [name, value] of Object.entries(of)) of[name] = value.length === 4 ? "#" + [...value.slice(1)].map((c) => c + c).join("") : value;
  const least = (a, b, want) => t.check(contrast(of[a], of[b]) >= want, theme, a, "on", b, "has", contrast(of[a], of[b]).toFixed(2), "of", want);
  for (const ground of ["bg", "surface"]) {
    for (const name of TEXT) least(name, ground, 4.5);
    for (const name of ["control", "focus"]) least(name, ground, 3);
  }
  for (const name of ["text", "link"]) least(name, "selected", 4.5);
  least("on-link", "link", 4.5);
  for (let i = 1; i <= 8; i++) least(`s${i}`, "bg", 3);
  for (const [sight, matrix] of Object.entries(SIGHTS)) {
    const seen = Array.from({ length: 8 }, (_, i) => oklab(times(matrix, linear(of[`s${i + 1}`])).map((c) => Math.min(1, Math.max(0, c)))));
    for (let i = 0; i < 8; i++) for (let k = 0; k < i; k++) {
      const far = 100 * Math.hypot(...seen[i].map((c, n) => c - seen[k][n]));
      t.check(far >= (theme === "light" ? 12.5 : 13), theme, sight, `series ${k + 1} and ${i + 1} are ${far.toFixed(1)} apart`);
    }
  }
}

exports.rows = { "27 contrast and series, light": (t) => colours(t, "light"), "27 contrast and series, dark": (t) => colours(t, "dark") };
