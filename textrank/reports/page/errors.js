"use strict";
(() => {
  const form = document.querySelector("form.filter");
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  if (!form) return;
  const list = document.querySelector("ol.errors");
  const items = [...list.children].map((item) => ({
    item,
    text: (item.textContent + " " + item.dataset.document).toLowerCase(),
    margin: Number(item.dataset.margin),
  }));
  const orders = {
    margin: (a, b) => b.margin - a.margin,
    document: (a, b) =>
      a.item.dataset.document.localeCompare(b.item.dataset.document, "en", { numeric: true }) || b.margin - a.margin,
  };
  const show = () => {
    const kind = form.elements.kind.value;
    const wanted = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { item, text } of items) {
      item.hidden = (kind && item.dataset.kind !== kind) || !wanted.every((word) => text.includes(word));
      count += !item.hidden;
    }
    form.elements.count.value = `${count} of ${items.length}`;
    document.querySelector("#errors .none").hidden = count > 0;
  };
  const sort = () => {
    items.sort(orders[form.elements.order.value]);
    list.append(...items.map(({ item }) => item));
  };
  form.addEventListener("input", () => { sort(); show(); });
  show();
})();
