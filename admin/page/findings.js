// The findings of a verdict: what each kind means, and where it is.

import { rangeText } from "./format.js";

// What each kind of finding means to the application that produced or reads the records.
const FINDING_KINDS = {
  acknowledged_lost: ["Acknowledged and lost", "The producer got a success, and the log does not have what it sent. No consumer will read it."],
  appended_twice: ["Stored twice", "The log has the same records at two places. A consumer reads them twice."],
  stored_unacknowledged: [
    "Stored without a success",
    "The log has the batch, and the producer got no response or an error. If it sends the records as new ones, they are stored twice.",
  ],
  reordered: ["Out of order", "The log has the batch behind one that its connection sent later."],
  hanging_transaction: ["Hanging transaction", "No transaction marker will end it. Consumers with read_committed stop at its first record."],
  producer_before_reset: ["Producer from before the reset", "A producer of an earlier test still sends batches to this partition."],
  deleted: ["Deleted", "Retention or DeleteRecords deleted these offsets. That is no fault."],
};
// Kinds whose two offsets are the first and the last one; for others they are two places.
const OFFSET_RANGES = new Set(["acknowledged_lost", "stored_unacknowledged", "hanging_transaction", "deleted", "producer_before_reset"]);
// Kinds whose records the log does not have.
const WITHOUT_RECORDS = new Set(["acknowledged_lost", "deleted"]);
// Records that were deleted on purpose.
const HARMLESS = "deleted";

/** Return the title of a finding, and a sentence on what it means. */
export function meaningOf(finding) {
  const [title, meaning] = FINDING_KINDS[finding.kind] ?? [finding.kind.replaceAll("_", " "), ""];
  return { title, meaning };
}

/** Return a verdict in short, as the API lists it: the findings that are faults, as a number and by kind. */
export function summaryOf(verdict) {
  const { topic, batches, records, findings } = verdict;
  const kinds = {};
  for (const { kind } of findings) if (kind !== HARMLESS) kinds[kind] = (kinds[kind] ?? 0) + 1;
  // The broker lists deletions last: if one is listed, all others are.
  const leftOut = findings.at(-1)?.kind === HARMLESS ? 0 : verdict.findings_left_out;
  return { topic, findings: sumOf(kinds) + leftOut, kinds, batches, records, error: null };
}

/** Return a verdict on a group in short, as the API lists it. */
export function groupSummaryOf({ group, findings, findings_left_out: leftOut, partitions }) {
  const kinds = {};
  for (const { kind } of findings) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return { group, findings: findings.length + leftOut, kinds, delivered: sumOf(partitions.map((each) => each.delivered)), error: null };
}

/** Return how many findings of each kind there are in all, in words: "2 acknowledged and lost, 1 stored twice". */
export function kindsText(summaries) {
  const counts = {};
  for (const { kinds } of summaries) for (const [kind, count] of Object.entries(kinds)) counts[kind] = (counts[kind] ?? 0) + count;
  // In the order of their weight.
  const known = [...Object.keys(FINDING_KINDS), ...Object.keys(counts).filter((kind) => !(kind in FINDING_KINDS))];
  return known
    .filter((kind) => counts[kind])
    .map((kind) => `${counts[kind].toLocaleString("en")} ${meaningOf({ kind }).title.toLowerCase()}`)
    .join(", ");
}

function sumOf(counts) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Return whether a finding is no fault. */
export function isHarmless(finding) {
  return finding.kind === HARMLESS;
}

/** Return the offset of the first record of a finding; undefined if the log does not have it. */
export function recordOf(finding) {
  return WITHOUT_RECORDS.has(finding.kind) ? undefined : finding.offsets[0];
}

/** Return where a finding is: partition, offsets, producer, sequence, leader epoch and rule. */
export function placeText(finding) {
  const [first, last] = finding.offsets;
  const parts = [`partition ${finding.partition}`];
  if (first !== undefined && OFFSET_RANGES.has(finding.kind)) parts.push(`offset${first === last ? "" : "s"} ${rangeText(first, last)}`);
  else if (first !== undefined) parts.push(`offsets ${first} and ${last}`);
  if (finding.producer_id >= 0) parts.push(`producer ${finding.producer_id} epoch ${finding.producer_epoch}`);
  if (finding.base_sequence >= 0) parts.push(`sequence ${finding.base_sequence}`);
  if (finding.leader_epoch !== null) parts.push(`leader epoch ${finding.leader_epoch}`);
  if (finding.rule !== null) parts.push(`rule ${finding.rule}`);
  return parts.join(" · ");
}
