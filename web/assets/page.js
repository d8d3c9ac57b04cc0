// What a page gains by script; it is whole without. Text goes in by textContent only.
/**
 * Puts a text where it can be pasted from; false: the browser does not allow it. Plain http has no
 * navigator.clipboard, so that a selection is copied there.
 */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const focused = document.activeElement, area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  [area.style.position, area.style.top] = ["fixed", "0"]; // the page does not scroll to it
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus({ preventScroll: true });
  return done;
}

for (const pre of document.querySelectorAll("pre.copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.className = "copy";
  button.addEventListener("click", async () => {
    const code = pre.querySelector("code"), done = await copy(code.textContent);
    if (!done) getSelection().selectAllChildren(code);
    button.textContent = done ? "Copied" : "Selected";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  pre.append(button);
}
// light or dark, as chosen here; the system's else. theme.js reads it before the next page is drawn
const theme = document.getElementById("theme");
theme.value = document.documentElement.dataset.theme ?? "";
theme.addEventListener("change", () => {
  if (theme.value) document.documentElement.dataset.theme = theme.value;
  else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("theme", theme.value); } catch { /* for this page only */ }
  document.dispatchEvent(new Event("theme"));
});
// the bars of a drawing are one Tab stop; arrows go from bar to bar
for (const drawing of document.querySelectorAll("svg.histogram")) drawing.querySelector("a")?.setAttribute("tabindex", "0");
document.addEventListener("keydown", (event) => {
  const bar = event.target.closest("svg.histogram a"), bars = bar ? [...bar.parentElement.querySelectorAll("a")] : [], at = bars.indexOf(bar);
  const next = { ArrowLeft: bars[at - 1], ArrowRight: bars[at + 1], Home: bars[0], End: bars.at(-1) }[event.key];
  if (!next) return;
  event.preventDefault();
  bar.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
});

// a choice in a list is sent at once
for (const select of document.querySelectorAll("form select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

// what is not there yet is asked for again, as often as the page says
const again = document.getElementById("again"), tries = history.state?.tries ?? 0;
if (again && tries < again.dataset.tries) {
  const { seconds } = again.dataset;
  again.prepend(`Trying again in ${seconds} s. `);
  setTimeout(() => { history.replaceState({ tries: tries + 1 }, ""); location.reload(); }, 1000 * seconds);
}

// a video that this browser has no decoder for is said to be one, where its picture would be
for (const video of document.querySelectorAll(".media video")) {
  const { codecs } = video.dataset;
  const tell = () => {
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = video.error?.code === MediaError.MEDIA_ERR_NETWORK ? "The video could not be fetched." : `This browser has no decoder for ${codecs || "this video"}. Download the file.`;
    video.after(note);
    video.hidden = true;
  };
  if (video.error || (codecs && !video.canPlayType(`video/mp4; codecs="${codecs}"`))) tell();
  else video.addEventListener("error", tell, { once: true });
}

// search as one types: the same page is asked for, and its results take the place of these. An answer that is late is dropped.
const search = document.querySelector("input[type=search]");
const results = document.getElementById("results");
let pause, asked;
function show(url) {
  asked?.abort();
  const request = asked = new XMLHttpRequest(); // parses a page without any sink that Trusted Types forbid
  request.open("GET", url);
  request.responseType = "document";
  request.setRequestHeader("Accept", "text/html");
  request.addEventListener("load", () => {
    const found = request.status === 200 && request.response.getElementById("results");
    if (!found) return;
    for (const id of ["results", "filters", "filters-title"]) {
      const [old, now] = [document, request.response].map((from) => from.getElementById(id));
      if (old && now) old.replaceChildren(...[...now.childNodes].map((node) => document.importNode(node, true)));
    }
    document.getElementById("said").textContent = results.querySelector("caption, p")?.textContent ?? "";
    history.replaceState(null, "", url);
  });
  request.send();
}
if (search && results) search.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(() => {
    const chosen = [...new FormData(search.form)].filter(([, value]) => value);
    show(`/?${new URLSearchParams(chosen)}`);
  }, 150);
});

// what somebody has unfolded stays so
function keep_open(old, part) {
  const [before, now] = [old, part].map((of) => [...of.querySelectorAll("details")]);
  if (before.length === now.length) now.forEach((details, i) => { details.open = before[i].open; });
}

// What runs is asked for again while it is seen. Sections that changed take the place of those that are there.
function follow_work(main) {
  let due;
  const again = (seconds) => { if (under_way()) due = setTimeout(ask, seconds * 1000); };
  function ask() {
    clearTimeout(due);
    if (document.hidden) return;
    const request = new XMLHttpRequest();
    request.open("GET", location.href);
    request.responseType = "document";
    request.setRequestHeader("Accept", "text/html");
    request.addEventListener("error", () => again(5));
    request.addEventListener("load", () => {
      const now = request.status === 200 && request.response.getElementById("main");
      // a page that waited for what it is about is another one now, with scripts of its own
      if (now && main.querySelector("[data-then=load]") && !now.querySelector("[data-then=load]")) return location.reload();
      const old = [...main.children], found = now ? [...now.children] : [];
      found.forEach((part, i) => { if (old[i]) keep_open(old[i], part); });
      if (found.length && found.length !== old.length && !main.contains(document.activeElement)) main.replaceChildren(...found.map((part) => document.importNode(part, true)));
      else found.forEach((part, i) => {
        if (old[i] && !old[i].contains(document.activeElement) && old[i].innerHTML !== part.innerHTML) old[i].replaceWith(document.importNode(part, true));
      });
      again(Number(request.getResponseHeader("Retry-After")) || 2);
    });
    request.send();
  }
  document.addEventListener("visibilitychange", ask);
  again(2);
}
const under_way = () => /^\/~(operations$|drafts)/.test(location.pathname) || document.querySelector(".counting");
if (under_way()) follow_work(document.getElementById("main"));
