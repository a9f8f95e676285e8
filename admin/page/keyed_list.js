// A list whose rows stay while their items change, so that focus, opened parts and scroll places stay too.

import { element } from "./dom.js";
import { Pager } from "./pager.js";

/**
 * Return a list: `root`, and `update(items)`, which shows a page of them. keyOf: returns the key of an item. makeRow(item): returns a row, `root` and
 * `update(item)`. empty: what is shown without items. label: of the list.
 */
export function keyedList(label, { keyOf, makeRow, empty }) {
  const list = element("ol", { class: "rows-list", "aria-label": label });
  const nothing = element("p", { class: "nothing" }, empty);
  const rows = new Map();
  let all = [];
  const pager = new Pager(label, draw);

  function update(items) {
    all = items;
    draw();
  }

  function draw() {
    const items = pager.pageOf(all);
    const keys = new Set(items.map(keyOf));
    for (const [key, row] of rows) {
      if (keys.has(key)) continue;
      row.root.remove();
      rows.delete(key);
    }
    for (const [place, item] of items.entries()) {
      const key = keyOf(item);
      if (!rows.has(key)) rows.set(key, makeRow(item));
      const row = rows.get(key);
      row.update(item);
      if (list.children[place] !== row.root) list.insertBefore(row.root, list.children[place] ?? null);
    }
    list.hidden = !items.length;
    nothing.hidden = Boolean(items.length);
  }

  update([]);
  return { root: element("div", {}, pager.root, list, nothing), update };
}
