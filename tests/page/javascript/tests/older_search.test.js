// The search for requests that the page has not: when it begins, what it shows, and what it keeps.

import assert from "node:assert/strict";
import { test } from "node:test";

import { entriesOf } from "./entries.js";
import { openDocument } from "./browser.js";

const { document, frame } = openDocument();
const { Journal } = await import("../page/journal.js");
const { OlderSearch } = await import("../page/older_search.js");
const { Timeline } = await import("../page/timeline.js");

const TYPING_MS = 300;
const FULL = 10000;
const FILTER = { api: "Fetch" };

/** Return a timeline with the requests from a first id on, and the search. answers: what the broker returns, in order. */
function searching(first, answers) {
  const journal = new Journal();
  journal.add(entriesOf(first, first + 99));
  const timeline = new Timeline(journal, () => {});
  document.body.replaceChildren(timeline.root);
  timeline.measure();
  const calls = [];
  const errors = [];
  const source = {
    before: (id, filter) => {
      calls.push({ id, filter });
      const answer = answers.shift();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  const search = new OlderSearch(source, timeline, { onChange: () => {}, onError: (error) => errors.push(error.message) });
  timeline.onRemoved = (removed) => search.keep(removed);
  const begin = (filter) => {
    timeline.setFilter(filter);
    search.begin(filter);
  };
  return { journal, timeline, search, calls, errors, begin };
}

/** Let the time of typing pass, and the answers come. */
async function settle() {
  frame(TYPING_MS);
  await new Promise(setImmediate);
  frame(1000);
}

const idsOf = (timeline) => timeline.requests.entries.map(({ id }) => id);

test("a filter searches before the first request of the page, once for what is typed", async () => {
  const found = entriesOf(3, 4, { api: "Fetch" });
  const { timeline, search, calls, begin } = searching(501, [{ items: found, isComplete: true }]);

  begin({ api: "F" });
  begin(FILTER);
  await settle();

  assert.deepEqual(calls, [{ id: 501, filter: FILTER }]);
  assert.deepEqual(idsOf(timeline), [3, 4]);
  assert.equal(search.state, "complete");
});

test("a page with the first request and one without a filter search nothing", async () => {
  for (const [first, filter] of [[1, FILTER], [501, {}]]) {
    const { calls, begin } = searching(first, []);
    begin(filter);
    await settle();
    assert.deepEqual(calls, []);
  }
});

test("the search goes on before the oldest request that it found", async () => {
  const { timeline, search, calls, begin } = searching(501, [
    { items: entriesOf(300, 302, { api: "Fetch" }), isComplete: false },
    { items: entriesOf(7, 7, { api: "Fetch" }), isComplete: true },
  ]);
  begin(FILTER);
  await settle();
  assert.equal(search.state, "partly");

  await search.more();

  assert.deepEqual(calls.map(({ id }) => id), [501, 300]);
  assert.deepEqual(idsOf(timeline), [7, 300, 301, 302]);
});

test("selected requests that leave the page stay behind the older ones", async () => {
  const { journal, timeline, begin } = searching(501, [{ items: entriesOf(3, 3, { api: "Fetch" }), isComplete: true }]);
  journal.add(entriesOf(601, 601, { api: "Fetch" }));
  begin(FILTER);
  await settle();

  journal.add(entriesOf(602, FULL + 602));
  await settle();

  assert.equal(journal.find(601), undefined);
  assert.deepEqual(idsOf(timeline), [3, 601]);
});

test("an answer to an earlier filter is not shown", async () => {
  const { timeline, begin } = searching(501, [{ items: entriesOf(3, 3), isComplete: true }]);
  begin(FILTER);
  frame(TYPING_MS);

  begin({});
  await settle();

  assert.equal(timeline.requests.entries[0].id, 501);
});

test("a search that fails can go on", async () => {
  const { search, errors, begin } = searching(501, [new Error("no connection"), { items: [], isComplete: true }]);
  begin(FILTER);
  await settle();
  assert.deepEqual(errors, ["no connection"]);
  assert.equal(search.state, "partly");

  await search.more();

  assert.equal(search.state, "complete");
});
