import { ask, make, send } from "./common.js";

const at = (id) => document.getElementById(id);
const PAGE = 9; // candidates that are shown at first, and further ones at a time
let limit = PAGE;
let state = null;
let busy = false;

const percent = (value) => (value === null ? "–" : `${Math.round(100 * value)} %`);

const choose = (option) => change("/api/answer", {
  question: state.question.key,
  value: `choose:${option.position}`,
  shown: state.question.options.map((other) => other.position),
});

// A candidate: what it says where candidates differ. Lines that the first one has too are quiet.
function option(candidate, index) {
  const first = state.question.options[0].lines;
  const key = index < PAGE ? String(index + 1) : "";
  const values = key ? { "aria-keyshortcuts": key } : {};
  const mark = key ? [make("kbd", {}, key)] : [];
  const note = index ? [] : [make("span", { class: "tag none" }, "best score")];
  const button = make("button", { type: "button", class: "yes", "aria-label": `Candidate ${index + 1} is best`, ...values }, `Candidate ${index + 1}`, ...mark);
  button.addEventListener("click", () => choose(candidate));
  const lines = candidate.lines.map((line) => make("li", { class: index && first.includes(line) ? "quiet" : "" }, line));
  return make("li", {}, make("p", { class: "head" }, button, ...note, make("span", { class: "quiet" }, `score ${candidate.score.toFixed(3)}`)), make("ul", {}, ...lines));
}

function buttons() {
  const question = state.question;
  const all = [];
  const add = (key, label, kind, act) => {
    const button = make("button", { type: "button", id: kind, class: kind, "aria-keyshortcuts": key }, label, make("kbd", {}, key));
    button.addEventListener("click", act);
    all.push(button);
    return button;
  };
  if (question) {
    if (question.candidates > question.options.length) add("m", "Show more candidates", "more", () => { limit += PAGE; load(); });
    add("u", "Unsure, or none is right", "unsure", () => change("/api/answer", { question: question.key, value: "unsure" }));
  }
  add("z", "Undo", "undo", () => change("/api/undo")).disabled = !state.last.length;
  at("buttons").replaceChildren(...all);
}

function figures() {
  const quality = state.quality;
  const rows = [["before learning", quality.progressive], ["last 20", quality.recent], ["held out", quality.heldout]];
  at("figures").replaceChildren(...rows.map(([name, value]) => make("div", { class: "figure" }, make("p", { class: "name" }, name), make("p", { class: "value" }, percent(value)))));
  const lost = state.lost ? ` ${state.lost} earlier answers are about candidates that changed, and are not used.` : "";
  at("quality").textContent = (quality.answers ? `${quality.answers} choices; a random order would reach ${percent(quality.chance)}.` : "No choice yet.") + lost;
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(1)}`;

function advice() {
  const { word, why } = state.advice;
  const forecasts = state.forecasts.map((f) => make("p", { class: "forecast" }, `The next ${f.ahead} choices: ${signed(f.gain)} points (${signed(f.gain_low)} to ${signed(f.gain_high)}), to about ${percent(f.value)} held out.`));
  at("advice").className = `advice ${word.replace(" ", "-")}`;
  at("advice").replaceChildren(make("b", {}, { "go on": "Go on", slower: "Slower now", enough: "Enough" }[word]), make("p", {}, why), ...forecasts);
}

function show() {
  const question = state.question;
  at("progress").textContent = `${state.answered} of ${state.total} questions answered`;
  at("order").value = state.order;
  at("where").textContent = question ? question.document : "";
  at("title").textContent = question ? "Which candidate is best?" : "No question is left.";
  at("passage").textContent = question ? question.text : "";
  at("passage").hidden = !question;
  at("help").textContent = question ? `${question.options.length} of ${question.candidates} candidates, the best score first, with what they say where they differ. The model learns from those shown.` : "";
  at("options").replaceChildren(...(question ? question.options.map(option) : []));
  buttons();
  figures();
  advice();
  at("last").replaceChildren(...state.last.map((row) => make("li", {}, make("b", {}, row.text), " ", make("span", { class: "tag none" }, row.value), make("span", { class: "quiet" }, `${row.rank === null ? "" : ` was ranked ${row.rank}`} · ${row.document}`))));
  document.body.dataset.answered = state.answered;
}

function complain(error) {
  at("problem").textContent = error.message;
  at("problem").hidden = false;
}

async function load() {
  try {
    state = await ask("/api/state", { limit });
    show();
  } catch (error) {
    complain(error);
  }
}

async function change(address, value = {}) {
  if (busy) return;
  busy = true;
  at("problem").hidden = true;
  limit = PAGE;
  try {
    state = await send(`${address}?limit=${limit}`, value);
    show();
    at("title").focus({ preventScroll: true });
  } catch (error) {
    complain(error);
  } finally {
    busy = false;
  }
}

at("order").addEventListener("change", (event) => change("/api/order", { order: event.target.value }));

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !state || event.target.closest("input, textarea, select")) return;
  const button = document.querySelector(`main [aria-keyshortcuts="${CSS.escape(event.key.toLowerCase())}"]`);
  if (button && !button.disabled) button.click();
});

await load();
