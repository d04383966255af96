import { ask, make, send } from "./common.js";

const at = (id) => document.getElementById(id);
const NAMES = ["annotator", "document", "kind"];
const filters = { document: "", annotator: "", kind: "", order: "" };
let state = null;
let busy = false;

const percent = (value) => `${(100 * value).toFixed(1)} %`;
const range = (interval) => (interval ? ` (${percent(interval.low)} to ${percent(interval.high)})` : "");

function buttons() {
  const item = state.item;
  const listed = !item ? [] : [...item.choices.map((value, i) => [String(i + 1), value]), ["u", "unsure"]];
  const all = listed.map(([key, value]) => {
    const kind = value === "unsure" ? "unsure" : value === item.gold ? "yes" : "no";
    const note = value === item.gold ? " (label is right)" : "";
    const button = make("button", { type: "button", "data-value": value, "aria-keyshortcuts": key, class: kind }, value + note, make("kbd", {}, key));
    button.addEventListener("click", () => change("/api/decide", { item: item.key, value }));
    return button;
  });
  const undo = make("button", { type: "button", id: "undo", "aria-keyshortcuts": "z", class: "undo" }, "Undo", make("kbd", {}, "z"));
  undo.disabled = !state.last.length;
  undo.addEventListener("click", () => change("/api/undo"));
  at("buttons").replaceChildren(...all, undo);
}

function passage() {
  const item = state.item;
  if (!item) return at("passage").replaceChildren();
  const nodes = item.words.flatMap((word) => [make(word.marks ? "mark" : "span", { class: `word ${word.marks}` }, word.text + (word.joined ? word.space : "")), word.joined ? "" : word.space]);
  const about = item.about ? [make("span", { class: "around" }, item.about)] : [];
  at("passage").replaceChildren(make("span", { class: "around" }, item.around[0], " "), make("span", { class: "sentence" }, ...nodes), make("span", { class: "around" }, " ", item.around[1]), ...about);
}

// Parts of the corpus as filters: the share of doubtful labels, and what was decided there.
function parts() {
  const blocks = NAMES.filter((name) => state.parts[name].length > 1).map((name) => {
    const select = make("select", { "aria-label": `Only one ${name}`, "data-filter": name }, make("option", { value: "" }, `every ${name}`));
    for (const row of state.parts[name]) {
      const share = row.doubtful ? ` · ${percent(row.doubtful.share)}${range(row.doubtful.interval)} doubtful` : "";
      const option = make("option", { value: row.value }, `${row.value} · ${row.labels} labels${share} · ${row.wrong} of ${row.decided} wrong`);
      option.selected = filters[name] === row.value;
      select.append(option);
    }
    select.addEventListener("change", () => { filters[name] = select.value; load(); });
    return make("p", {}, select);
  });
  at("filters").replaceChildren(...blocks);
}

function results() {
  const rate = state.error_rate;
  const lines = [];
  if (rate) lines.push(make("b", {}, `${percent(rate.share)} of labels wrong`), make("p", {}, `Estimate of the model${range(rate.interval)}, over ${rate.labels} labels.`));
  if (state.sampled) lines.push(make("b", {}, `${percent(state.sampled.share)} in the random sample`), make("p", {}, `${state.sampled.wrong} of ${state.sampled.items} decided labels${range(state.sampled.interval)}.`));
  if (!lines.length) lines.push(make("p", {}, "Labels are ranks: doubts are shares of the other candidates of a query that the scores order against the labels."));
  at("rate").replaceChildren(...lines);
  const agreed = state.agreement;
  const kappa = agreed && agreed.kappa !== null ? `, kappa ${agreed.kappa.toFixed(2)}` : "";
  at("agreement").textContent = `${state.reviewed} labels reviewed by ${state.people} ${state.people === 1 ? "person" : "people"}, ${state.wrong} wrong, ${state.disputed} disputed. ` +
    (agreed ? `${agreed.items} were decided by two or more: they agree on ${percent(agreed.share)}${kappa}.` : "None was decided by two people.");
}

function show() {
  const item = state.item;
  at("progress").textContent = `${state.decided} of ${state.total} labels decided`;
  at("where").textContent = item ? `${item.document}${item.annotator ? ` · ${item.annotator}` : ""} · doubt ${item.rank}` : "";
  at("title").textContent = item ? item.title : "No label is left to decide here.";
  at("guess").textContent = !item ? "" : item.is_ranking
    ? `The label is ${item.gold}; ${percent(item.probability)} of the other candidates are ordered against it.`
    : `The label says ${item.gold}; it is wrong with probability ${item.probability.toFixed(2)}.`;
  passage();
  buttons();
  results();
  parts();
  at("last").replaceChildren(...state.last.map((row) => make("li", {}, make("b", {}, row.text), " ", make("span", { class: "tag none" }, row.value), make("span", { class: "quiet" }, ` ${row.value === row.gold ? "as labelled" : `labelled ${row.gold}`} · ${row.document}`))));
  document.body.dataset.decided = state.decided;
}

function complain(error) {
  at("problem").textContent = error.message;
  at("problem").hidden = false;
}

async function load() {
  try {
    state = await ask("/api/state", filters);
    show();
  } catch (error) {
    complain(error);
  }
}

async function change(address, value = {}) {
  if (busy) return;
  busy = true;
  at("problem").hidden = true;
  try {
    state = await send(`${address}?${new URLSearchParams(filters)}`, value);
    show();
    at("title").focus({ preventScroll: true });
  } catch (error) {
    complain(error);
  } finally {
    busy = false;
  }
}

at("random").addEventListener("change", (event) => { filters.order = event.target.checked ? "random" : ""; load(); });

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !state || event.target.closest("input, textarea, select")) return;
  const button = [...at("buttons").children].find((node) => node.getAttribute("aria-keyshortcuts") === event.key.toLowerCase());
  if (button && !button.disabled) button.click();
});

await load();
