"use strict";
(() => {
  // One page, no server: the rows are in the page; text is only ever put in as text.
  const { rows, facts, entities } = JSON.parse(document.getElementById("data").textContent);
  // Probabilities of facts over all their statements; textrank.tasks.ppi.facts defines them.
  const factKey = (a, b) => JSON.stringify([a, b]);
  const factOf = new Map(facts.map((fact, order) => [factKey(fact.a, fact.b), { ...fact, order }]));
  const STEP = 50;
  const label = (key) => entities[key]?.label ?? key;
  const range = (p) => (p === null ? "none given" : p >= 0.95 ? ".95 and more" : p >= 0.8 ? ".80 to .95" : p >= 0.5 ? ".50 to .80" : "below .50");
  const FACETS = {
    Standing: (r) => factOf.get(factKey(r.a, r.b)).standing, Probability: (r) => range(factOf.get(factKey(r.a, r.b)).probability), Type: (r) => (r.interacts || r.status !== "asserted" ? r.type : null), Year: (r) => (r.year === null ? null : String(r.year)), Source: (r) => r.source,
  };
  const ORDER = [".95 and more", ".80 to .95", ".50 to .80", "below .50", "none given"];
  const chosen = Object.fromEntries(Object.keys(FACETS).map((name) => [name, new Set()]));
  if (facts.some((fact) => fact.standing === "likely")) chosen.Standing.add("likely"); // the rest is behind the filter
  const letters = (text) => text.toLowerCase().replace(/[-/ ]/g, "");
  let shown = STEP;
  let around = null;

  const make = (tag, values = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const draw = (tag, values = {}, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
    node.textContent = text;
    return node;
  };
  const chance = (p) => {
    const svg = draw("svg", { class: p < 0.5 ? "meter low" : "meter", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(draw("rect", { class: "track", width: 100, height: 10 }), draw("rect", { class: "fill", width: 100 * (p ?? 0), height: 10 }));
    return make("span", { class: "chance" }, svg, p === null ? "–" : p.toFixed(2).replace(/^0/, ""));
  };
  const sentence = (row) => {
    const marks = row.marks.filter(([a, b]) => a >= 0 && a < b && b <= row.sentence.length);
    // Offsets count characters, as Python does; JavaScript counts halves of rare ones.
    const text = [...row.sentence];
    const cuts = [...new Set([0, text.length, ...marks.flatMap(([a, b]) => [a, b])])].sort((a, b) => a - b);
    const parts = [];
    for (let i = 0; i + 1 < cuts.length; i++) {
      const names = marks.filter(([a, b]) => a <= cuts[i] && cuts[i + 1] <= b).map((m) => m[2]);
      const piece = text.slice(cuts[i], cuts[i + 1]).join("");
      parts.push(names.length ? make("mark", { class: names.join(" ") }, piece) : piece);
    }
    return make("p", { class: "sentence" }, ...parts);
  };
  const matches = (row, without) => {
    for (const [name, of] of Object.entries(FACETS)) {
      if (name !== without && chosen[name].size && !chosen[name].has(of(row))) return false;
    }
    const word = document.getElementById("q").value.trim();
    if (!word) return true;
    const small = letters(word);
    return [row.a, row.b].some((key) => letters(label(key)).includes(small) || key.toLowerCase().includes(word.toLowerCase())) ||
      letters(row.name_a).includes(small) || letters(row.name_b).includes(small) || row.document === word;
  };

  function facets() {
    const place = document.getElementById("facets");
    place.replaceChildren();
    for (const [name, of] of Object.entries(FACETS)) {
      const counts = new Map();
      for (const row of rows) if (matches(row, name)) counts.set(of(row), (counts.get(of(row)) ?? 0) + 1);
      counts.delete(null);
      for (const value of chosen[name]) if (!counts.has(value)) counts.set(value, 0);
      if (counts.size < 2 && !chosen[name].size) continue;
      const sorted = [...counts].sort((x, y) => (name === "Probability" ? ORDER.indexOf(x[0]) - ORDER.indexOf(y[0]) : name === "Year" ? y[0].localeCompare(x[0]) : y[1] - x[1]));
      const list = make("ul");
      for (const [value, times] of sorted.slice(0, 12)) {
        const on = chosen[name].has(value);
        const box = make("a", { href: "#main", role: "checkbox", "aria-checked": String(on), class: on ? "on" : "" }, make("span", { class: "choice" }, value), make("span", { class: "times" }, String(times)));
        const toggle = (event) => { event.preventDefault(); if (on) chosen[name].delete(value); else chosen[name].add(value); shown = STEP; show(); };
        box.addEventListener("click", toggle);
        box.addEventListener("keydown", (event) => { if (event.key === " ") toggle(event); });
        list.append(make("li", {}, box));
      }
      place.append(make("section", { class: "facet" }, make("h2", {}, name), list));
    }
  }

  function graph() {
    const place = document.getElementById("around");
    place.replaceChildren();
    if (!around) return;
    const linked = facts.filter((fact) => fact.asserted && (fact.a === around || fact.b === around));
    const partners = linked.slice(0, 20).map((fact) => [fact.a === around ? fact.b : fact.a, fact.probability]);
    const svg = draw("svg", { viewBox: "-260 -170 520 340", class: "circle", role: "img", "aria-label": `${label(around)} and ${partners.length} partners` });
    partners.forEach(([key, p], i) => {
      const angle = (2 * Math.PI * i) / partners.length - Math.PI / 2;
      const [x, y] = [200 * Math.cos(angle), 135 * Math.sin(angle)];
      svg.append(draw("line", { x1: 0, y1: 0, x2: x, y2: y, class: "edge", "stroke-opacity": 0.25 + 0.7 * p }));
      const text = draw("text", { x, y: y + 4, "text-anchor": "middle", class: "node", tabindex: 0, role: "button" }, label(key));
      text.addEventListener("click", () => { around = key; graph(); });
      text.addEventListener("keydown", (event) => { if (event.key === "Enter") { around = key; graph(); } });
      svg.append(text);
    });
    svg.append(draw("text", { x: 0, y: 4, "text-anchor": "middle", class: "node centre" }, label(around)));
    const close = make("button", { type: "button" }, "Close");
    close.addEventListener("click", () => { around = null; graph(); });
    place.append(make("section", { class: "piece" }, make("p", { class: "head" }, `${label(around)}: ${linked.length} partners, the ${partners.length} most probable shown`, close), svg));
  }

  function fact(group) {
    const first = group[0];
    const whole = factOf.get(factKey(first.a, first.b));
    const inside = make("div");
    const box = make("details", {}, make("summary", {}, `${group.length} ${group.length === 1 ? "sentence" : "sentences"}`), inside);
    box.addEventListener("toggle", () => {
      if (!box.open || inside.childElementCount) return;
      for (const row of group.slice(0, 200)) {
        inside.append(make("p", { class: "head" }, row.document, row.year === null ? "" : String(row.year), row.type === "not typed" || (row.status === "asserted" && !row.interacts) ? "" : make("span", { class: "tag" }, row.type), row.status === "asserted" ? (row.interacts ? "" : make("span", { class: "tag none" }, "unlikely")) : make("span", { class: `tag ${row.status}` }, row.status), chance(row.probability)), sentence(row));
      }
    });
    const names = whole.ends.map((key) => {
      const button = make("button", { type: "button", class: "link", title: "Show its partners" }, label(key));
      button.addEventListener("click", () => { around = key; graph(); document.getElementById("around").scrollIntoView({ block: "nearest" }); });
      return button;
    });
    return make("li", { class: whole.asserted ? "piece" : "piece not" }, make("p", { class: "head" }, names[0], make("span", { class: "arrow" }, whole.arrow), names[1], whole.standing === "likely" ? "" : make("span", { class: "tag none" }, whole.standing), whole.papers ? `${whole.papers} ${whole.papers === 1 ? "paper" : "papers"}` : "", chance(whole.asserted ? whole.probability : null)), box);
  }

  function show() {
    const groups = new Map();
    let total = 0;
    for (const row of rows) {
      if (!matches(row)) continue;
      total += 1;
      const key = factKey(row.a, row.b);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(row);
    }
    document.getElementById("count").replaceChildren(String(groups.size), " ", make("span", {}, `facts from ${total} statements`));
    document.getElementById("facts").replaceChildren(...[...groups.keys()].sort((x, y) => factOf.get(x).order - factOf.get(y).order).slice(0, shown).map((key) => fact(groups.get(key))));
    document.getElementById("more").hidden = groups.size <= shown;
    facets();
  }

  document.querySelector("form.find").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("q").addEventListener("input", () => { shown = STEP; show(); });
  document.getElementById("more").addEventListener("click", () => { shown += STEP; show(); });
  show();
})();
