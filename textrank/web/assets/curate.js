import { ask, draw, make, reasonBox, send } from "./common.js";

const at = (id) => document.getElementById(id);
const PLAIN = [["y", "yes", "Yes"], ["n", "no", "No"], ["g", "negated", "Negated"], ["u", "unsure", "Unsure"], ["w", "wrong name", "Wrong name"]];
let state = null;
let busy = false;
let cursor = null; // while a name is marked by keys: the first and the last word of it

function buttons() {
  const question = state.question;
  const listed = !question ? [] : question.choices.length
    ? [...question.choices.map((text, i) => [String(i + 1), `choose:${i}`, text]), ["u", "unsure", "Unsure"], ["w", "wrong name", "Wrong name"]]
    : PLAIN;
  const all = listed.map(([key, value, text]) => {
    const button = make("button", { type: "button", "data-value": value, "aria-keyshortcuts": key, class: value.replace(" ", "-") }, text, make("kbd", {}, key));
    button.addEventListener("click", () => answer(value));
    return button;
  });
  const undo = make("button", { type: "button", id: "undo", "aria-keyshortcuts": "z", class: "undo" }, "Undo", make("kbd", {}, "z"));
  undo.disabled = !state.last.length;
  undo.addEventListener("click", () => change("/api/undo"));
  at("buttons").replaceChildren(...all, undo);
}

function words() {
  const question = state.question;
  const place = at("passage");
  if (!question) return place.replaceChildren();
  const nodes = [];
  question.words.forEach((word, i) => {
    const chosen = cursor && i >= Math.min(cursor.from, cursor.to) && i <= Math.max(cursor.from, cursor.to);
    const node = make(word.marks ? "mark" : "span", { class: `word ${word.marks}${chosen ? " chosen" : ""}`, "data-i": i }, word.text + (word.joined ? word.space : ""));
    nodes.push(node, word.joined ? "" : word.space);
  });
  place.replaceChildren(make("span", { class: "around" }, question.around[0], " "), make("span", { class: "sentence" }, ...nodes), make("span", { class: "around" }, " ", question.around[1]));
}

const percent = (value) => (value === null ? "–" : (100 * value).toFixed(1));

function figure(name, title, better) {
  const values = state.quality.map((row) => row[name]);
  const known = values.map((value, i) => [i, value]).filter((pair) => pair[1] !== null);
  const now = values.at(-1) ?? null;
  const before = values.at(-11) ?? null;
  const moved = now === null || before === null ? "" : `${now >= before ? "+" : "−"}${Math.abs(100 * (now - before)).toFixed(1)} in 10`;
  const svg = draw("svg", { viewBox: "0 0 100 30", preserveAspectRatio: "none", "aria-hidden": "true" });
  if (known.length > 1) {
    const ys = known.map((pair) => pair[1]);
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    const first = known[0][0];
    const points = known.map(([i, value]) => `${(100 * (i - first)) / (known.at(-1)[0] - first)},${28 - (26 * (value - low)) / Math.max(high - low, 1e-9)}`);
    svg.append(draw("polyline", { points: points.join(" "), class: "line" }));
  }
  const good = moved && (now >= before) === (better > 0);
  return make("div", { class: "figure" }, make("p", { class: "name" }, title), make("p", { class: "value" }, percent(now)), make("p", { class: good ? "moved good" : "moved" }, moved), svg);
}

function quality() {
  const { yes, no } = state.needed;
  const missing = [[yes, "yes"], [no, "no"]].filter(([count]) => count).map(([count, word]) => `${count} more ${word}`).join(" and ");
  at("needed").textContent = missing ? `Quality is shown after ${missing}.` : "";
  at("figures").replaceChildren(...(missing ? [] : [figure("auc", "AUC", 1), figure("f", "F", 1), figure("calibration", "calibration error", -1)]));
  const { questions, agreed, share, kappa } = state.agreement;
  const asked = state.overlap ? `If several people answer, ${percent(state.overlap)} % of the questions of each are second opinions.` : "Choose the questions “second opinion” to answer what somebody else has answered.";
  at("agreement").textContent = questions
    ? `${agreed} of ${questions} questions with two answers agree: ${percent(share)} %${kappa === null ? "" : `, Cohen's kappa ${kappa.toFixed(2)}`}.`
    : `No question has answers of two people yet. ${asked}`;
  at("contradictions").replaceChildren(...state.contradictions.map((row) => make("li", {}, make("b", {}, row.text), " ", ...row.answers.flatMap(({ who, value }) => [make("span", { class: "tag none" }, value), make("span", { class: "quiet" }, ` ${who} `)]), make("span", { class: "quiet" }, `· ${row.document}`))));
  at("contradicting").hidden = !state.contradictions.length;
}

// Status, type, direction and identifiers go with the answer yes; the model's proposals are chosen.
function attributes() {
  const form = at("attributes");
  const found = state.question?.attributes;
  form.hidden = !found;
  if (!found) return form.replaceChildren();
  const [a, b] = found.names;
  const words = { "a>b": `${a} → ${b}`, "b>a": `${b} → ${a}`, none: "no direction" };
  const select = (name, title, empty) => {
    const list = make("select", { name }, ...(empty ? [make("option", { value: "" }, empty)] : []),
      ...found.choices[name].map((value) => make("option", { value }, words[value] ?? value)));
    list.value = found.proposed[name];
    return make("label", {}, title, list);
  };
  const gene = (i) => {
    const input = make("input", { name: `identifier${i}`, value: found.proposed.identifiers[i], list: `genes${i}`, maxlength: 60, autocomplete: "off", spellcheck: "false", placeholder: "symbol or identifier" });
    const list = make("datalist", { id: `genes${i}` });
    const says = make("span", { class: "gene" });
    const tell = (one) => says.replaceChildren(...(one?.symbol ? [`${one.symbol} ${one.species ?? ""} `, ...(one.links ?? []).slice(0, 2).map(([text, href]) => make("a", { class: "out", href, rel: "noreferrer", target: "_blank" }, text))] : []));
    tell(found.genes[i]);
    let wait = 0;
    input.addEventListener("input", () => {
      clearTimeout(wait);
      wait = setTimeout(async () => {
        const rows = await ask("/api/genes", { q: input.value }).catch(() => []);
        list.replaceChildren(...rows.map((row) => make("option", { value: row.identifier }, `${row.symbol} ${row.species}`)));
        tell(rows.find((row) => row.identifier === input.value));
      }, 200);
    });
    return make("label", { class: "wide" }, `Identifier of ${found.names[i]}`, input, list, says);
  };
  form.replaceChildren(make("p", { class: "hint wide" }, "Yes is stored with:"), select("type", "Type", "not stated"), select("direction", "Direction"), select("status", "Status"), gene(0), gene(1));
}

function details() {
  const found = state.question?.attributes;
  if (!found) return {};
  const form = at("attributes");
  const value = (name) => form.elements.namedItem(name).value.trim();
  const given = { status: value("status"), direction: value("direction"), identifiers: [value("identifier0"), value("identifier1")] };
  return value("type") ? { ...given, type: value("type") } : given;
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(1)}`;

function show() {
  const question = state.question;
  at("progress").textContent = `${state.answered} answered, ${state.open} open` + (state.lost ? ` · ${state.lost} lost with their names` : "");
  const link = question?.link;
  at("where").replaceChildren(link ? make("a", { class: "out", href: link[1], rel: "noreferrer", target: "_blank" }, link[0]) : question?.document ?? "");
  at("title").textContent = question ? question.title : state.queue === "second opinion" ? "Nobody else has answered a question that you have not." : "Every question is answered.";
  at("queue").value = state.queue;
  at("because").textContent = "";
  attributes();
  quality();
  at("guess").textContent = question?.is_second ? "Second opinion: somebody else has answered this question. The model has learnt that answer, so its own is not shown." : "";
  if (question?.probability) {
    const p = question.probability;
    const listed = question.choices.map((text, i) => `${text} ${p[i].toFixed(2)}`).join(", ");
    at("guess").textContent = listed ? `The model says ${question.choices[question.favoured]}; probabilities: ${listed}.` : `The model gives yes the probability ${p[0].toFixed(2).replace(/^0/, "")}.`;
  }
  words();
  buttons();
  at("advice").className = `advice ${state.advice.word.replace(" ", "-")}`;
  at("advice").replaceChildren(make("b", {}, { "go on": "Go on", slower: "Slower now", enough: "Enough" }[state.advice.word]), make("p", {}, state.advice.why), ...state.forecasts.map((f) => make("p", { class: "forecast" }, `The next ${f.ahead} answers: F ${signed(f.gain)} (${signed(f.gain_low)} to ${signed(f.gain_high)}), to about ${percent(f.value)}.`)));
  const choice = question?.is_second ? undefined : question?.choices[question.favoured];
  at("why").textContent = choice ? `Why the model thinks of ${choice}` : "Why the model thinks so";
  at("keys").hidden = Boolean(question?.choices.length);
  reasons().catch((error) => at("reasons").replaceChildren(make("p", { class: "hint" }, error.message)));
  at("last").replaceChildren(...state.last.map((row) => make("li", {}, make("b", {}, row.text), " ", make("span", { class: "tag none" }, row.value), make("span", { class: "quiet" }, ` ${row.document} · ${row.who} · ${row.at.slice(11, 19)}`))));
  document.body.dataset.answered = state.answered;
}

// They come after the question: nobody waits for them to answer.
async function reasons() {
  const question = state.question;
  const say = (text) => at("reasons").replaceChildren(make("p", { class: "hint" }, text));
  if (!question) return say("");
  if (question.is_second) return say("Not shown for a second opinion.");
  if (!question.explains) return say("This model has no named features.");
  say("Asking the model …");
  const found = await ask("/api/reasons", { question: question.key });
  if (state.question?.key !== question.key) return;
  const box = reasonBox(found);
  const said = box.querySelector(".said"); // the sentence goes with the question
  box.querySelector(".sentence")?.remove();
  at("reasons").replaceChildren(box);
  at("because").replaceChildren(...(said ? said.childNodes : []));
  said?.remove();
}

async function change(address, value = {}) {
  if (busy) return;
  busy = true;
  at("problem").hidden = true;
  try {
    state = await send(address, value);
    cursor = null;
    at("marking").textContent = "";
    show();
    at("title").focus({ preventScroll: true });
  } catch (error) {
    at("problem").textContent = error.message;
    at("problem").hidden = false;
  } finally {
    busy = false;
  }
}

const answer = (value) => state.question && change("/api/answer", { question: state.question.key, value, ...(value === "yes" ? { details: details() } : {}) });

function mark(remove = false) {
  if (!cursor) return;
  const [from, to] = [Math.min(cursor.from, cursor.to), Math.max(cursor.from, cursor.to)];
  const { words: list, document: name } = state.question;
  change("/api/name", { document: name, start: list[from].start, end: list[to].end, remove });
}

function marking() {
  at("marking").textContent = cursor ? "Enter marks these words as a name, Delete says that they are none, Escape ends." : "";
  words();
  at("passage").querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
}

// Words chosen with the mouse or a finger are taken as a mark too.
document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  if (!state?.question || selection.isCollapsed || !at("passage").contains(selection.anchorNode) || !at("passage").contains(selection.focusNode)) return;
  const touched = [...at("passage").querySelectorAll("[data-i]")].filter((node) => selection.containsNode(node, true)).map((node) => Number(node.dataset.i));
  if (!touched.length) return;
  cursor = { from: Math.min(...touched), to: Math.max(...touched) };
  at("marking").replaceChildren(...[["Mark as a name", false], ["Is no name", true]].map(([text, remove]) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => { getSelection().removeAllRanges(); mark(remove); });
    return button;
  }));
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !state || event.target.closest("input, textarea, select")) return;
  if (cursor && state.question) {
    const last = state.question.words.length - 1;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const to = Math.min(last, Math.max(0, cursor.to + step));
      cursor = { from: event.shiftKey ? cursor.from : to, to };
      return marking();
    }
    if (event.key === "Enter") { event.preventDefault(); return mark(); }
    if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); return mark(true); }
    if (event.key === "Escape") { cursor = null; return marking(); }
    return;
  }
  if (event.repeat) return;
  const key = event.key.toLowerCase();
  if (key === "m" && state.question) {
    const first = Math.max(0, state.question.words.findIndex((word) => word.marks.includes("e1")));
    cursor = { from: first, to: first };
    return marking();
  }
  if (key === "z") return state.last.length && change("/api/undo");
  const button = [...at("buttons").children].find((node) => node.getAttribute("aria-keyshortcuts") === key);
  if (button && !button.disabled) button.click();
});

at("queue").addEventListener("change", () => change("/api/queue", { queue: at("queue").value }));
at("attributes").addEventListener("submit", (event) => event.preventDefault());
state = await ask("/api/state");
show();
