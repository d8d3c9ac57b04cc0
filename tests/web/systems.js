// Views as people set their systems up: the keyboard alone, 320 px, forced colours, large text, themes, paper.
const kit = require("./kit.js");
const { door, VIEWS, EXPECTED, look } = require("./views.js");

// Tab comes by what is in the page in its order, each stop is seen, and after the last one it leaves
async function focus(t, view) {
  const page = await t.open({ reducedMotion: "reduce" }); // else the page is still on its way to what has the focus
  await page.goto(t.base + view);
  await kit.settled(page);
  let left = false;
  for (let stop = 0; stop < 150 && !left; stop++) {
    await page.keyboard.press("Tab");
    const seen = await page.evaluate(() => {
      const now = document.activeElement, before = window.before;
      window.before = now;
      if (now === document.body) return { left: true };
      const box = now.getBoundingClientRect(), style = getComputedStyle(now), rings = [style, ...(now.closest("svg a") ? [...now.querySelectorAll("*")].map((e) => getComputedStyle(e)) : [])];
      const x = Math.max(0, Math.min(innerWidth - 1, box.left + box.width / 2)), y = Math.max(0, Math.min(innerHeight - 1, box.top + Math.min(box.height, innerHeight) / 2));
      const top = document.elementFromPoint(x, y);
      return { name: now.outerHTML.slice(0, 100), ring: rings.some((s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2) || now.localName === "video",
        covered: !(now.contains(top) || top?.contains(now) || top?.closest("label")?.control === now), outside: box.bottom <= 0 || box.top >= innerHeight,
        backwards: Boolean(before && before.isConnected && before !== document.body && !(before.compareDocumentPosition(now) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY)) && before !== now) };
    });
    left = Boolean(seen.left);
    for (const what of ["covered", "outside", "backwards"]) t.check(left || !seen[what], view, `focus is ${what}:`, seen.name);
    t.check(left || seen.ring, view, "focus is not seen:", seen.name);
  }
  t.check(left || view.includes("episodes"), view, "Tab does not come to the end");
}

exports.rows = {
  "24 focus": async (t) => { for (const view of ["/", door, door + "/episodes?sort=-return", "/d/reel/episodes/7", door + "/~statistics"]) await focus(t, view); },
  "26 320 px, forced colours, reduced motion": async (t) => {
    t.expected = EXPECTED;
    const page = await t.open({ width: 320, forcedColors: "active", reducedMotion: "reduce" });
    for (const view of VIEWS) {
      await look(t, page, t.base, view, "-320-forced");
      t.check(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior === "auto" && !document.getAnimations().length), view, "moves");
    }
  },
  "26 text of 200 %": async (t) => {
    t.expected = EXPECTED;
    const page = await t.open({ width: 1280 });
    for (const view of VIEWS) {
      await page.goto(t.base + view);
      await kit.settled(page);
      const lost = await page.evaluate(() => {
        document.documentElement.style.fontSize = "28px";
        const cut = [...document.querySelectorAll("main *")].filter((e) => e.children.length === 0 && e.textContent.trim() && ["hidden", "clip"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1 && !e.closest(".visually-hidden"));
        return [document.documentElement.scrollWidth - innerWidth, cut.map((e) => e.outerHTML.slice(0, 80))];
      });
      t.check(lost[0] <= 0, view, `scrolls sideways by ${lost[0]} px`);
      t.same(lost[1], [], view, "text is cut off");
    }
  },
  "32 light and dark, by the system and by choice": async (t) => {
    for (const system of ["light", "dark"]) {
      const page = await t.open({ theme: system }), back = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      await page.addInitScript(() => document.addEventListener("readystatechange", () => { window.first ??= document.documentElement.dataset.theme ?? ""; }));
      await page.goto(t.base + "/");
      const own = await back(), other = system === "light" ? "dark" : "light";
      await page.selectOption("#theme", other);
      const chosen = await back();
      t.check(own !== chosen, system, "and", other, "have one background:", own);
      await page.goto(t.base + door); // another page has it before anything of it is drawn
      t.same([await page.evaluate(() => window.first), await back()], [other, chosen], `${other} on a system that is ${system}`);
      await page.selectOption("#theme", "");
      await page.reload();
      t.same([await page.evaluate(() => window.first), await back()], ["", own], `the system's, ${system}`);
    }
  },
  "32 print": async (t) => {
    const page = await t.open({ theme: "dark" });
    await page.goto(t.base + door);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const shown = await page.evaluate(() => ({
      paper: getComputedStyle(document.documentElement).backgroundColor, ink: getComputedStyle(document.querySelector("h1")).color,
      controls: [...document.querySelectorAll("nav, form, button")].filter((e) => e.checkVisibility() && !e.matches(".crumbs, .tree")).map((e) => e.outerHTML.slice(0, 60)),
      wide: document.documentElement.scrollWidth - innerWidth,
    }));
    t.same([shown.paper, shown.ink], ["rgb(255, 255, 255)", "rgb(0, 0, 0)"], "paper and ink");
    t.same([shown.controls, shown.wide <= 0], [[], true], "what paper has no use for");
  },
};
