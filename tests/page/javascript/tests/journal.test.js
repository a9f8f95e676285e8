// The requests that the page has, and those that the timeline shows of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Journal } from "../page/journal.js";
import { ShownRequests } from "../page/shown_requests.js";
import { batchOf, entriesOf, entryOf } from "./entries.js";

// What a journal holds, and how many it removes at a time.
const FULL = 10000;
const REMOVED = 500;

const idsOf = (requests) => requests.entries.map(({ id }) => id);

/** Return a journal and the requests that are shown of it, which get each change. */
function shownOf(filter = {}) {
  const journal = new Journal();
  const shown = new ShownRequests();
  shown.filter = filter;
  journal.listeners.add((change) => shown.apply(change));
  return { journal, shown };
}

test("a full journal removes the oldest requests and their names", () => {
  const journal = new Journal();
  journal.add(entriesOf(1, FULL, { api: "Fetch", topics: ["old"] }));

  journal.add(entriesOf(FULL + 1, 2 * FULL));

  assert.equal(journal.entries.length, FULL - REMOVED);
  assert.equal(journal.entries[0].id, FULL + REMOVED + 1);
  assert.deepEqual(journal.apis.names, ["Produce"]);
  assert.deepEqual(journal.topics.names, ["orders"]);
  assert.equal(journal.find(FULL), undefined);
});

test("a request with a batch of an earlier one repeats it", () => {
  const journal = new Journal();

  journal.add([entryOf(1, { batches: [batchOf(0)] }), entryOf(2, { batches: [batchOf(1)] }), entryOf(3, { batches: [batchOf(0)] })]);

  assert.deepEqual([...journal.repeats], [[3, 1]]);
  assert.deepEqual([...journal.repeatedBy], [[1, 3]]);
});

test("shown requests are the same after changes as after a new selection", () => {
  const { journal, shown } = shownOf({ topic: "orders" });

  journal.add([entryOf(1), entryOf(2, { topics: ["other"] }), entryOf(3, { answer: "waiting", client_id: "slow" })]);
  journal.add([entryOf(3, { client_id: "slow" }), entryOf(2), entryOf(4), entryOf(4, { client_id: "late" })]);
  journal.clear(1);

  const again = new ShownRequests();
  again.filter = shown.filter;
  again.reset(journal.entries);
  assert.deepEqual(idsOf(shown), [2, 3, 4]);
  assert.deepEqual(shown.entries, again.entries);
  assert.deepEqual(shown.counts.counts, again.counts.counts);
});

test("a request that a filter no longer selects is not shown", () => {
  const { journal, shown } = shownOf({ notable: "on" });
  journal.add([entryOf(1, { answer: "waiting" }), entryOf(2, { error: "NOT_LEADER_OR_FOLLOWER" })]);
  assert.deepEqual(idsOf(shown), [1, 2]);

  journal.add([entryOf(1)]);

  assert.deepEqual(idsOf(shown), [2]);
  assert.deepEqual(shown.lanes, ["shop"]);
});

test("lanes keep their order while requests come, and the least busy ones are others", () => {
  const { journal, shown } = shownOf();
  journal.add(entriesOf(1, 11).map((entry) => ({ ...entry, client_id: `client ${entry.id}` })));
  assert.equal(shown.lanes.length, 11);

  journal.add([entryOf(12, { client_id: "twelve" }), entryOf(13, { client_id: "thirteen" }), entryOf(14, { client_id: "client 11" })]);

  assert.equal(shown.lanes.length, 12);
  assert.equal(shown.lanes.at(-1), "others");
  assert.ok(shown.lanes.includes("client 11"));
});
