// Tables of the state: a page of rows, in the order of the API or by a column.

import { button, element, fill } from "./dom.js";
import { keepListState, listState } from "./list_state.js";
import { Pager } from "./pager.js";

// Names with numbers in them are in the order of the numbers.
const NAMES = new Intl.Collator("en", { numeric: true });

/**
 * Return a table.
 * heads: texts, or [text, valueOf] of a column to sort by. The head of a column of numbers ends with "#".
 * valueOf(item): returns a text or a number; null, which is last in both orders, for an unknown one.
 * rowOf(item): returns the cells of a row; the first names the row.
 */
export function sortedTable(label, heads, items, rowOf) {
  const columns = heads.map(columnOf);
  let { by, isDescending } = listState(label);
  const pager = new Pager(label, draw);
  const body = element("tbody");
  const headRow = element("tr");
  const scrolled = element(
    "div",
    { class: "table", role: "region", tabindex: 0, "aria-label": label, "data-key": `table/${label}` },
    element("table", {}, element("thead", {}, headRow), body),
  );
  draw();
  return element("div", { class: "section" }, pager.root, scrolled);

  function draw() {
    const rows = pager.pageOf(inOrder(items, columns.find(({ name }) => name === by), isDescending)).map(rowOf);
    fill(headRow, columns.map(headOf));
    fill(body, rows.map((cells) => element("tr", {}, cells.map(cellOf))));
  }

  function cellOf(content, number) {
    return element(number === 0 ? "th" : "td", { class: columns[number].kind, scope: number === 0 ? "row" : null }, content);
  }

  function headOf({ name, kind, valueOf }) {
    const order = name === by ? (isDescending ? "descending" : "ascending") : null;
    const sort = button(name, () => sortBy(name, kind !== null), { kind: "sort", "data-key": `sort/${label}/${name}` });
    return element("th", { class: kind, scope: "col", "aria-sort": order }, valueOf === null ? name : sort);
  }

  /** Sort by a column: numbers from the greatest on first, texts from a to z; then the other way, then as the API returns them. */
  function sortBy(name, isNumber) {
    if (by !== name) [by, isDescending] = [name, isNumber];
    else if (isDescending === isNumber) isDescending = !isNumber;
    else by = undefined;
    keepListState(label, { by, isDescending });
    pager.choose(0);
    draw();
    // It replaces the one that was pressed.
    headRow.children[columns.findIndex((column) => column.name === name)].firstChild.focus();
  }
}

function columnOf(head) {
  const [text, valueOf] = Array.isArray(head) ? head : [head, null];
  return { name: text.replace("#", ""), kind: text.endsWith("#") ? "number" : null, valueOf };
}

function inOrder(items, column, isDescending) {
  if (column === undefined) return items;
  const valued = items.map((item) => ({ item, value: column.valueOf(item) }));
  return valued.sort((one, other) => compared(one.value, other.value, isDescending)).map(({ item }) => item);
}

function compared(one, other, isDescending) {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  const order = typeof one === "number" ? one - other : NAMES.compare(one, other);
  return isDescending ? -order : order;
}
