import { ask, make, reasonBox } from "./common.js";

const input = document.querySelector("#q");
const list = document.querySelector("#suggestions");
let chosen = -1;
let timer = 0;

function close() {
  list.hidden = true;
  chosen = -1;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function choose(index) {
  const items = [...list.children];
  chosen = (index + items.length) % items.length;
  items.forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
  input.setAttribute("aria-activedescendant", items[chosen].id);
}

const go = (key) => location.assign(`/name?${new URLSearchParams({ key })}`);

async function suggest() {
  const word = input.value.trim();
  if (!word) return close();
  const found = await ask("/api/suggest", { q: word });
  if (input.value.trim() !== word) return;
  list.replaceChildren(...found.map((row, i) => {
    const other = row.name !== row.label ? ` (${row.name})` : "";
    const item = make("li", { id: `s${i}`, role: "option", "aria-selected": "false" }, row.label + other, make("span", {}, row.id ?? ""));
    item.addEventListener("mousedown", (event) => { event.preventDefault(); go(row.key); });
    item.dataset.key = row.key;
    return item;
  }));
  list.hidden = !found.length;
  chosen = -1;
  input.setAttribute("aria-expanded", String(found.length > 0));
}

input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => suggest().catch(close), 120); });
input.addEventListener("blur", close);
input.addEventListener("keydown", (event) => {
  if (list.hidden) return;
  if (event.key === "ArrowDown") { event.preventDefault(); choose(chosen + 1); }
  if (event.key === "ArrowUp") { event.preventDefault(); choose(chosen < 0 ? -1 : chosen - 1); }
  if (event.key === "Escape") close();
  if (event.key === "Enter" && chosen >= 0) { event.preventDefault(); go(list.children[chosen].dataset.key); }
});

// Facets are links that behave as check boxes: the space bar works too.
for (const box of document.querySelectorAll("a[role=checkbox]")) {
  box.addEventListener("keydown", (event) => { if (event.key === " ") { event.preventDefault(); box.click(); } });
}
const fold = document.querySelector(".facets .fold");
if (fold && matchMedia("(max-width: 56rem)").matches) fold.open = false;

addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, [role=application]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { event.preventDefault(); input.focus(); input.select(); }
  if (event.key !== "j" && event.key !== "k") return;
  const links = [...document.querySelectorAll("a.open, .evidence summary")];
  const at = links.indexOf(document.activeElement);
  const next = links[event.key === "j" ? at + 1 : Math.max(0, at - 1)];
  if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
});

// A statement beside a text shows its sentence.
for (const row of document.querySelectorAll("li[data-sentence]")) {
  const sentence = () => document.querySelectorAll(`.text [data-sentence="${row.dataset.sentence}"]`);
  const show = (on) => () => sentence().forEach((node) => node.classList.toggle("chosen", on));
  row.addEventListener("mouseenter", show(true));
  row.addEventListener("mouseleave", show(false));
  row.addEventListener("focusin", () => { show(true)(); sentence()[0]?.scrollIntoView({ block: "nearest" }); });
  row.addEventListener("focusout", show(false));
}

for (const box of document.querySelectorAll("details.why")) {
  box.addEventListener("toggle", async () => {
    const place = box.querySelector(".reasons");
    if (!box.open || place.dataset.filled) return;
    place.dataset.filled = "yes";
    try {
      const found = await ask("/api/why", { id: box.dataset.id, a: box.dataset.a, b: box.dataset.b });
      place.replaceChildren(reasonBox(found));
      const words = place.querySelector(".sentence");
      if (words) box.closest(".piece")?.querySelector(".sentence").replaceWith(words);
      if (found.stored !== null && Math.abs(found.stored - found.score) > 1e-3) {
        place.append(make("p", { class: "hint" }, `Within its whole text the score was ${found.stored.toFixed(3)}: these are the reasons in its sentence alone.`));
      }
    } catch (error) {
      delete place.dataset.filled;
      place.replaceChildren(make("p", { class: "hint" }, error.message));
    }
  });
}
