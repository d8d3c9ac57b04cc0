// What is selected in a list of episodes stands at its foot, and goes along to its other pages.
const picked = document.querySelector("form.picked");
const boxes = () => [...document.querySelectorAll('input[name=e][form="compare"]')], key = `picked ${location.pathname}`;
const kept = new Set(), button = picked.querySelector("button"), hint = picked.querySelector(".hint");
const named = picked.insertBefore(document.createElement("ul"), hint);
named.className = "chosen-list";
try { for (const number of JSON.parse(sessionStorage.getItem(key)) ?? []) kept.add(number); } catch { /* nothing is kept */ }
const show_picked = () => {
  try { sessionStorage.setItem(key, JSON.stringify([...kept])); } catch { /* for this page only */ }
  for (const box of boxes()) box.checked = kept.has(box.value);
  for (const other of picked.querySelectorAll("input[name=e]")) other.remove();
  const here = boxes().map((box) => box.value);
  named.replaceChildren(...[...kept].map((number) => {
    const item = document.createElement("li"), one = document.createElement("button");
    [one.type, one.className, one.textContent] = ["button", "one", `${number} \u00d7`];
    one.setAttribute("aria-label", `no longer select episode ${number}`);
    one.addEventListener("click", () => { kept.delete(number); show_picked(); (named.querySelector("button") ?? button).focus(); });
    item.append(one);
    if (!here.includes(number)) { // of another page of the list
      const sent = document.createElement("input");
      [sent.type, sent.name, sent.value] = ["hidden", "e", number];
      item.append(sent);
    }
    return item;
  }));
  button.textContent = kept.size ? `Compare ${kept.size} selected` : "Compare selected";
  button.disabled = !kept.size || kept.size > 6;
  hint.textContent = kept.size > 6 ? "six at most: take some away" : kept.size ? "" : "up to six episodes, played together";
};
for (const box of boxes()) box.addEventListener("change", () => {
  if (box.checked) kept.add(box.value);
  else kept.delete(box.value);
  show_picked();
});
show_picked();
