// Tables of the state: the order of their rows, and the page that is kept.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { openDocument } from "./browser.js";

openDocument();
const { sortedTable } = await import("../page/sorted_table.js");

const HEADS = [["Name", ({ name }) => name], ["Records#", ({ records }) => records], "Note"];
const rowOf = ({ name, records }) => [name, records, "a note"];

beforeEach(() => {
  globalThis.history = {
    state: null,
    replaceState(state) {
      this.state = state;
    },
  };
});

function tableOf(items) {
  return sortedTable("Topics", HEADS, items, rowOf);
}

function names(table) {
  return [...table.querySelectorAll("tbody th")].map((cell) => cell.textContent);
}

function press(table, text) {
  const found = [...table.querySelectorAll("button")].find((each) => each.textContent === text);
  found.dispatchEvent(new found.ownerDocument.defaultView.Event("click"));
}

function topics(count) {
  return Array.from({ length: count }, (_, number) => ({ name: `topic-${number}`, records: number }));
}

test("an unknown number is last in both orders", () => {
  const table = tableOf([{ name: "a", records: 1 }, { name: "b", records: null }, { name: "c", records: 3 }]);

  press(table, "Records");
  assert.deepEqual(names(table), ["c", "a", "b"]);
  press(table, "Records");
  assert.deepEqual(names(table), ["a", "c", "b"]);
  press(table, "Records");
  assert.deepEqual(names(table), ["a", "b", "c"]);
});

test("a column without values to sort by has no button", () => {
  const table = tableOf(topics(2));

  assert.deepEqual([...table.querySelectorAll("thead button")].map((each) => each.textContent), ["Name", "Records"]);
});

test("a table that is made again has the same page in the same order", () => {
  const first = tableOf(topics(250));
  press(first, "Records");
  press(first, "Next");
  press(first, "Next");

  const again = tableOf(topics(251));

  assert.equal(names(again).length, 51);
  assert.equal(names(again)[0], "topic-50");
});

test("a list that became short shows its last page", () => {
  const long = tableOf(topics(250));
  press(long, "Next");
  press(long, "Next");

  const short = tableOf(topics(120));

  assert.equal(names(short)[0], "topic-100");
});

test("another order begins with its first page", () => {
  const table = tableOf(topics(250));
  press(table, "Next");

  press(table, "Records");

  assert.equal(names(table)[0], "topic-249");
});
