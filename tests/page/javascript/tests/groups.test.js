// The lag of a group, and the body of a reset of its offsets.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openDocument } from "./browser.js";

openDocument();
const { resetBody } = await import("../page/group_forms.js");
const { lagRows, totalLagText } = await import("../page/group_lag.js");
const { timeOf } = await import("../page/time_text.js");

const offsetOf = (partition, lag) => ({ topic: "orders", partition, offset: 4, leader_epoch: 0, metadata: "", lag });
const memberOf = (...partitions) => ({ member_id: "one", client_id: "reader", partitions: { orders: partitions } });

test("an assigned partition without a committed offset is named beside the total lag", () => {
  assert.equal(totalLagText({ offsets: [offsetOf(0, 6)], members: [memberOf(0, 1)] }), "6, and 1 partition without a committed offset");
  assert.equal(totalLagText({ offsets: [offsetOf(0, 6)], members: [memberOf(0)] }), "6");
  assert.equal(totalLagText({ offsets: [offsetOf(0, null)], members: [{ partitions: null }] }), "unknown");
});

test("a row of the lag has the committed offset and the member, or null", () => {
  const lag = { partitions: [{ topic: "orders", partition: 0 }, { topic: "orders", partition: 1 }] };

  const [first, second] = lagRows({ offsets: [offsetOf(0, 6)], members: [memberOf(1)] }, lag);

  assert.deepEqual([first.offset.lag, first.member], [6, null]);
  assert.deepEqual([second.offset, second.member.client_id], [null, "reader"]);
});

test("a reset has one target", () => {
  const values = { topic: "", partition: "", target: "earliest", value: "" };

  assert.deepEqual(resetBody(values), { to: "earliest" });
  assert.deepEqual(resetBody({ ...values, topic: "orders", partition: "2", target: "shift_by", value: "-3" }), { topic: "orders", partition: 2, shift_by: -3 });
  assert.deepEqual(resetBody({ ...values, target: "time_ms", value: "2026-11-29 18:00" }), { time_ms: Date.UTC(2026, 10, 29, 18) });
  assert.equal(resetBody({ ...values, target: "offset", value: "five" }), null);
});

test("a time is in ms, or a date that is in UTC if it names no zone", () => {
  assert.equal(timeOf("1700000000000"), 1700000000000);
  assert.equal(timeOf("2026-11-29T18:00:00.5Z"), Date.UTC(2026, 10, 29, 18, 0, 0, 500));
  assert.equal(timeOf("2026-11-29 18:00:00.500 UTC"), Date.UTC(2026, 10, 29, 18, 0, 0, 500));
  assert.equal(timeOf("2026-11-29T18:00+01:00"), Date.UTC(2026, 10, 29, 17));
  assert.equal(timeOf("2026-11-29"), Date.UTC(2026, 10, 29));
  assert.equal(timeOf("soon"), null);
});
