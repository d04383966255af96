// What all pages share. Text from documents is only ever put in as text.

export function make(tag, values = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(values)) {
    if (name === "class") node.className = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export function draw(tag, values = {}) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
  return node;
}

export async function ask(address, values = {}) {
  const answer = await fetch(`${address}?${new URLSearchParams(values)}`, { headers: { accept: "application/json" } });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error ?? `the server answered ${answer.status}`);
  return found;
}

export async function send(address, value = {}) {
  const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "x-textrank-csrf": csrf },
    body: JSON.stringify(value),
  });
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(found.error ?? `the server answered ${answer.status}`);
  return found;
}

export const signed = (value) => (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(3);

const marked = (pieces, tag) => pieces.map(([text, classes]) => (classes ? make(tag, { class: classes }, text) : text));

// First one sentence, then the words that count most, then bars that add up.
export function reasonBox(found) {
  const box = make("div", { class: "because" });
  if (found.summary?.length) box.append(make("p", { class: "said" }, ...marked(found.summary, "em")));
  if (found.sentence?.length) box.append(make("p", { class: "sentence" }, ...marked(found.sentence, "mark")));
  box.append(reasonTable(found));
  return box;
}

// The kinds of reasons as bars on one axis, each with its strongest features; the last line is the sum.
function reasonTable(found) {
  const rows = found.parts.filter((row) => Math.abs(row.adds) >= 0.0005);
  if (found.others.count) rows.push({ name: `${found.others.count} other features`, adds: found.others.adds });
  const every = rows.flatMap((row) => [row, ...(row.parts ?? [])]);
  const largest = Math.max(1e-9, ...every.map((row) => Math.abs(row.adds)));
  const body = make("tbody");
  for (const row of rows) {
    body.append(reasonRow(row, largest, row.parts ? "kind" : ""));
    for (const part of row.parts ?? []) if (part.name !== row.name) body.append(reasonRow(part, largest, "part"));
  }
  body.append(make("tr", { class: "sum" }, make("td", {}, "score, the sum"), make("td", {}, signed(found.score)), make("td")));
  return make("table", { "aria-label": "Reasons for the score" }, body);
}

function reasonRow(row, largest, kind) {
  const size = (50 * Math.abs(row.adds)) / largest;
  const bar = draw("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
  bar.append(
    draw("rect", { x: row.adds < 0 ? 50 - size : 50, width: Math.max(size, 0.3), height: 8, class: row.adds < 0 ? "against" : "for" }),
    draw("line", { x1: 50, x2: 50, y1: 0, y2: 8, class: "axis", "stroke-width": 0.4 }),
  );
  return make("tr", { class: kind }, make("td", {}, row.name), make("td", {}, signed(row.adds)), make("td", {}, bar));
}

// The token has done its work once the cookie is set: keep it out of shared addresses.
const address = new URL(location.href);
if (address.searchParams.has("token")) {
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}
