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
