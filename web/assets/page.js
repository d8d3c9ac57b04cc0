// What a page gains by script; it is whole without. Text goes in by textContent only.
const copyable = document.querySelectorAll("pre.copy");
for (const pre of navigator.clipboard ? copyable : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.className = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  pre.append(button);
}
// a choice in a list is sent at once
for (const select of document.querySelectorAll("form select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
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
    results.replaceChildren(...[...found.childNodes].map((node) => document.importNode(node, true)));
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
// an episode: its timeline
if (document.querySelector('form[aria-label="Step"]')) import("./timeline.js");
