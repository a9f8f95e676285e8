// The conditions of the filter: on requests, in calls of the API and in addresses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressPartsOf, choiceOf, isSelected, queryOf } from "../page/request_filter.js";
import { batchOf, entryOf } from "./entries.js";

test("topic, partition and producer hold together for one batch", () => {
  const entry = entryOf(1, { topics: ["a", "b"], batches: [batchOf(0, { topic: "a", partition: 1 }), batchOf(0, { topic: "b", partition: 2 })] });

  assert.equal(isSelected(entry, { topic: "a", partition: "1", producer: "7" }), true);
  assert.equal(isSelected(entry, { topic: "a", partition: "2" }), false);
  assert.equal(isSelected(entry, { topic: "a", producer: "8" }), false);
});

test("a partition selects the requests that read it", () => {
  const fetch = entryOf(1, { api: "Fetch", fetch: { partitions: [{ topic: "orders", partition: 3 }] } });

  assert.equal(isSelected(fetch, { topic: "orders", partition: "3" }), true);
  assert.equal(isSelected(fetch, { partition: "4" }), false);
});

test("node and error select requests, also by an error inside the response", () => {
  const entry = entryOf(1, { node: 2, error: null, first_error: { error: "UNKNOWN_MEMBER_ID" } });

  assert.equal(isSelected(entry, { node: "2", error: "UNKNOWN_MEMBER_ID" }), true);
  assert.equal(isSelected(entry, { node: "1" }), false);
  assert.equal(isSelected(entry, { error: "NOT_COORDINATOR" }), false);
});

test("the API gets each condition, and a part of a client id as an expression", () => {
  const query = queryOf({ api: "Fetch", topic: "a b", partition: "0", producer: "-1", node: "2", error: "NOT_COORDINATOR", notable: "on", client: "shop.*" });

  assert.deepEqual(Object.fromEntries(query), {
    api: "Fetch",
    topic: "a b",
    partition: "0",
    producer_id: "-1",
    node: "2",
    error: "NOT_COORDINATOR",
    notable: "true",
    match: JSON.stringify({ client_id: { regex: "(?s).*shop\\.\\*.*" } }),
  });
});

test("no request is asked for by what is no number", () => {
  assert.equal(queryOf({ partition: "zero" }), null);
  assert.equal(String(queryOf({})), "");
});

test("an address has request, filter and lanes", () => {
  const filter = { api: "Fetch", client: "a=b/c", notable: "on" };
  const parts = addressPartsOf(filter, "node");

  assert.deepEqual(parts, ["api=Fetch", "client=a=b/c", "notable=on", "lane=node"]);
  assert.deepEqual(choiceOf(["120", ...parts]), { id: 120, filter, by: "node" });
  assert.deepEqual(choiceOf([""]), { id: null, filter: {}, by: "client" });
});
