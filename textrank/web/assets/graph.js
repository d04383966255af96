import cytoscape from "./cytoscape.mjs";
import { ask } from "./common.js";

const place = document.querySelector("#graph");
const says = document.querySelector("#graphsays");
const least = document.querySelector("#least");
const dark = matchMedia("(prefers-color-scheme: dark)");
const quiet = matchMedia("(prefers-reduced-motion: reduce)");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const AGAINST = new Set(["inhibition", "degradation"]);
const shade = (edge) => colour(AGAINST.has(edge.data("type")) ? "--second" : "--accent");
const head = (edge) => (edge.data("direction") === "none" ? "none" : AGAINST.has(edge.data("type")) ? "tee" : "triangle");

// cytoscape would write a style sheet into the page, which our policy forbids; app.css has the rule.
const own = document.createElement("template");
own.id = "__________cytoscape_stylesheet";
document.head.append(own);

const cy = cytoscape({ container: place, minZoom: 0.2, maxZoom: 3, boxSelectionEnabled: false, style: look() });
const expanded = new Set();

function look() {
  return [
    { selector: "node", style: { label: "data(label)", "font-size": 12.5, color: colour("--ink"), "text-valign": "center", "text-halign": "center", "text-wrap": "ellipsis", "text-max-width": 120, "background-color": colour("--e1"), "border-color": colour("--accent"), "border-width": 1, shape: "round-rectangle", width: (n) => Math.min(130, 18 + 7.2 * n.data("label").length), height: 24 } },
    { selector: "node.centre", style: { "background-color": colour("--accent"), color: colour("--paper"), "font-weight": 600 } },
    { selector: "node.more", style: { "border-style": "dashed" } },
    { selector: "node:selected", style: { "border-width": 3, "border-color": colour("--focus") } },
    { selector: "edge", style: { width: (e) => 1 + 1.2 * Math.log2(e.data("papers") + 1), "line-color": shade, "line-opacity": (e) => 0.35 + 0.6 * e.data("probability"), "curve-style": "bezier", "target-arrow-shape": head, "target-arrow-color": shade, "arrow-scale": 1.1 } },
    { selector: "edge:selected", style: { "line-color": colour("--focus"), "line-opacity": 1 } },
  ];
}

async function grow(key, first = false) {
  const found = await ask("/api/neighbours", { key, least: least?.value ?? 0.5, limit: first ? 20 : 10 });
  const shown = add(found, key, first);
  says.textContent = `${cy.getElementById(key).data("label")}: ${shown} of ${found.partners} partners shown; ${cy.nodes().length} names and ${cy.edges().length} facts in the graph. ` +
    "Choose a name and expand it to see its own partners.";
}

async function whole() {
  const found = await ask("/api/network", Object.fromEntries(new URLSearchParams(place.dataset.query)));
  add(found, null, true);
  says.textContent = `${cy.nodes().length} names and the ${cy.edges().length} most probable facts. Choose a name and expand it to see more of its partners.`;
}

function add(found, key, first) {
  const from = key === null ? cy.collection() : cy.getElementById(key);
  const at = from.nonempty() ? from.position() : { x: 0, y: 0 };
  const fresh = found.nodes.filter((node) => cy.getElementById(node.key).empty());
  cy.add(fresh.map((node, i) => ({
    data: { id: node.key, label: node.symbol || node.label }, classes: node.key === key && first ? "centre" : "more",
    position: { x: at.x + 60 * Math.cos((6.28 * i) / fresh.length), y: at.y + 60 * Math.sin((6.28 * i) / fresh.length) },
  })));
  for (const edge of found.edges) {
    const id = JSON.stringify([edge.a, edge.b]);
    const [source, target] = edge.direction === "b>a" ? [edge.b, edge.a] : [edge.a, edge.b];
    if (cy.getElementById(id).empty()) cy.add({ data: { ...edge, id, source, target } });
  }
  if (key !== null) {
    expanded.add(key);
    cy.getElementById(key).removeClass("more");
  }
  lay(first);
  place.dataset.nodes = cy.nodes().length;
  return found.nodes.length - 1;
}

function lay(first) {
  cy.layout({ name: "cose", animate: !quiet.matches && !first, animationDuration: 300, randomize: first, nodeRepulsion: () => 6000, idealEdgeLength: () => 60, nodeOverlap: 16, componentSpacing: 50, padding: 20, numIter: 800 }).run();
}

async function start() {
  cy.elements().remove();
  expanded.clear();
  await (place.dataset.key === undefined ? whole() : grow(place.dataset.key, true));
}

const buttons = Object.fromEntries(["fit", "expand", "open", "png", "svg", "json"].map((id) => [id, document.getElementById(id)]));
const picked = () => cy.nodes(":selected").first();
cy.on("select unselect", () => {
  const some = picked();
  buttons.expand.disabled = some.empty() || expanded.has(some.id());
  buttons.open.disabled = cy.$(":selected").empty();
  if (some.nonempty()) says.textContent = `${some.data("label")} chosen.`;
});
const expand = () => { const some = picked(); if (some.nonempty() && !expanded.has(some.id())) grow(some.id()).catch(tell); };
const open = () => {
  const edge = cy.edges(":selected").first();
  if (edge.nonempty()) location.assign(`/fact?${new URLSearchParams({ a: edge.data("a"), b: edge.data("b") })}`);
  else if (picked().nonempty()) location.assign(`/name?${new URLSearchParams({ key: picked().id() })}`);
};
const tell = (error) => { says.textContent = error.message; };
cy.on("dbltap", "node", (event) => { event.target.select(); expand(); });
cy.on("dbltap", "edge", (event) => { event.target.select(); open(); });
buttons.expand.addEventListener("click", expand);
buttons.open.addEventListener("click", open);
buttons.fit.addEventListener("click", () => cy.fit(undefined, 20));

place.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    const nodes = cy.nodes().sort((a, b) => a.data("label").localeCompare(b.data("label")));
    const at = nodes.toArray().findIndex((node) => node.selected());
    cy.elements().unselect();
    nodes[(at + step + nodes.length) % nodes.length].select();
  }
  if (event.key === "Enter") { event.preventDefault(); expand(); }
  if (event.key === "o") open();
});

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Where the line from a to b enters the box of a node.
function border(a, b, node) {
  const [dx, dy] = [a.x - b.x, a.y - b.y];
  const step = Math.min(node.width() / 2 / Math.max(Math.abs(dx), 1e-9), node.height() / 2 / Math.max(Math.abs(dy), 1e-9), 1);
  return { x: b.x + dx * step, y: b.y + dy * step };
}

function drawn() {
  const box = cy.elements().boundingBox();
  const space = "http://www.w3.org/2000/svg";
  const put = (tag, values, text) => {
    const node = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const root = put("svg", { viewBox: `${box.x1 - 10} ${box.y1 - 10} ${box.w + 20} ${box.h + 20}`, width: box.w + 20, height: box.h + 20 });
  for (const [id, path, fill] of [["triangle", "M0,0 L8,4 L0,8 z", "--accent"], ["tee", "M7,0 L8,0 L8,8 L7,8 z", "--second"]]) {
    const marker = put("marker", { id, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" });
    marker.append(put("path", { d: path, fill: colour(fill) }));
    root.append(marker);
  }
  for (const edge of cy.edges().toArray()) {
    const [a, b] = [edge.source().position(), edge.target().position()];
    const sign = head(edge);
    const end = sign === "none" ? b : border(a, b, edge.target());
    root.append(put("line", { x1: a.x, y1: a.y, x2: end.x, y2: end.y, stroke: edge.style("line-color"), "stroke-width": edge.width(), "stroke-opacity": edge.style("line-opacity"), "marker-end": sign === "none" ? "none" : `url(#${sign})` }));
  }
  for (const node of cy.nodes().toArray()) {
    const { x, y } = node.position();
    const [w, h] = [node.width(), node.height()];
    root.append(put("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 6, fill: node.style("background-color"), stroke: node.style("border-color") }));
    root.append(put("text", { x, y: y + 4, "text-anchor": "middle", "font-size": 11, "font-family": "sans-serif", fill: node.style("color") }, node.data("label")));
  }
  return new XMLSerializer().serializeToString(root);
}

buttons.png.addEventListener("click", async () => save("graph.png", await cy.png({ output: "blob-promise", full: true, scale: 2, bg: colour("--card") })));
buttons.svg.addEventListener("click", () => save("graph.svg", new Blob([drawn()], { type: "image/svg+xml" })));
buttons.json.addEventListener("click", () => save("graph.cyjs", new Blob([JSON.stringify(cy.json())], { type: "application/json" })));
least?.addEventListener("input", () => { document.querySelector("#leastshown").value = Number(least.value).toFixed(2).replace(/^0/, ""); });
least?.addEventListener("change", () => start().catch(tell));
dark.addEventListener("change", () => cy.style(look()));
new ResizeObserver(() => { cy.resize(); cy.fit(undefined, 20); }).observe(place);
window.textrankGraph = { nodes: () => cy.nodes().length, edges: () => cy.edges().length, choose: (key) => cy.getElementById(key).select() };
start().catch(tell);
