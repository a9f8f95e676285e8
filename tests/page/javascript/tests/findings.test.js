// Verdicts in short: which topics come first, and what their findings are in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { kindsText, summaryOf } from "../page/findings.js";
import { verdictsIn } from "../page/verdict_source.js";

const findings = (...kinds) => kinds.map((kind) => ({ kind }));
const verdictOf = (topic, kinds = [], leftOut = 0) => ({
  topic,
  findings: findings(...kinds),
  findings_left_out: leftOut,
  batches: {},
  records: {},
});

test("deletions are no findings, and the broker left out no other finding if it lists one", () => {
  assert.equal(summaryOf(verdictOf("orders", ["appended_twice", "deleted"], 7)).findings, 1);
  assert.equal(summaryOf(verdictOf("orders", ["appended_twice", "appended_twice"], 7)).findings, 9);
});

test("topics with the most findings come first, then those without a verdict", () => {
  const verdicts = [verdictOf("b"), verdictOf("a"), verdictOf("one", ["reordered"]), verdictOf("two", ["reordered", "reordered"])];

  const { summaries } = verdictsIn({ verdicts, unjudged: { z: "the topic z was deleted" } });

  assert.deepEqual(summaries.map(({ topic }) => topic), ["two", "one", "z", "a", "b"]);
});

test("findings are named by kind, the gravest first, and unknown kinds last", () => {
  const summaries = [summaryOf(verdictOf("a", ["new_kind", "appended_twice"])), summaryOf(verdictOf("b", ["acknowledged_lost", "appended_twice"]))];

  assert.equal(kindsText(summaries), "1 acknowledged and lost, 2 stored twice, 1 new kind");
});
