// Other lanes for this page, as the server writes them for an address: the page stays where it is.
import { replace } from "./lanes.js";
import { read_again } from "./values.js";

const name_of = (link) => `${link.closest("figure.lane")?.dataset.lane ?? link.closest("tr")?.querySelector("code").textContent ?? ""} ${(link.querySelector("bdi") ?? link).textContent}`;
let asked;
function fetch_page(url) {
  asked?.abort();
  const request = asked = new XMLHttpRequest(); // parses a page without any sink that Trusted Types forbid
  request.open("GET", url);
  request.responseType = "document";
  request.setRequestHeader("Accept", "text/html");
  return new Promise((done, fail) => {
    request.addEventListener("load", () => (request.status === 200 && request.response.querySelector(".lanes") ? done(request.response) : fail(request.status)));
    request.addEventListener("error", fail);
    request.send();
  });
}

/** The lanes of an address; `arrived` is called when they are here. The link that was followed, one of `links`, keeps its place and the focus. */
export async function bring(url, link, links, arrived) {
  const called = (name) => [...document.querySelectorAll(links)].filter((other) => name_of(other) === name); // several, within JSON
  const place = link && { name: name_of(link), nth: called(name_of(link)).indexOf(link), top: link.getBoundingClientRect().top };
  let found;
  try {
    found = await fetch_page(url);
  } catch {
    return location.assign(url);
  }
  replace(found.querySelector(".lanes"));
  const [chips, others] = [document, found].map((page) => page.querySelector('[aria-label="Fields"]'));
  chips.replaceWith(document.importNode(others, true));
  const [leaves, fresh] = [document, found].map((page) => page.querySelectorAll(".leaves a"));
  fresh.forEach((other, i) => { if (leaves[i]) leaves[i].href = other.getAttribute("href"); });
  arrived();
  read_again();
  if (!place) return undefined;
  const again = called(place.name)[place.nth];
  for (let details = again?.closest("details"); details; details = details.parentElement.closest("details")) details.open = true;
  if (again) scrollBy({ top: again.getBoundingClientRect().top - place.top, behavior: "instant" });
  return again?.focus({ preventScroll: true });
}
