// The findings of a verdict: what each kind means, and which requests of the journal it is about.

import { rangeText } from "./format.js";

// What each kind of finding means to the application that produced or reads the records.
const FINDING_KINDS = {
  appended_twice: ["Stored twice", "The log has the same records at two places. A consumer reads them twice."],
  acknowledged_lost: ["Acknowledged and lost", "The producer got a success, and the log does not have the batch. No consumer will read it."],
  stored_unacknowledged: [
    "Stored without a success",
    "The log has the batch, and the producer got no response or an error. If it sends the records as new ones, they are stored twice.",
  ],
  reordered: ["Out of order", "The log has the batch behind one that its connection sent later."],
  producer_before_reset: ["Producer from before the reset", "A producer of an earlier test still sends batches to this partition."],
  deleted: ["Deleted", "Retention or DeleteRecords deleted these offsets. That is no fault."],
};
// Kinds whose two offsets are the first and the last one; for others they are two places.
const OFFSET_RANGES = new Set(["acknowledged_lost", "stored_unacknowledged", "deleted", "producer_before_reset"]);
// Records that were deleted on purpose.
const HARMLESS = "deleted";

/** Return the title of a finding, and a sentence on what it means. */
export function meaningOf(finding) {
  const [title, meaning] = FINDING_KINDS[finding.kind] ?? [finding.kind.replaceAll("_", " "), ""];
  return { title, meaning };
}

/** Return the number of findings, without those that are no fault. */
export function countFindings(verdict) {
  const { findings } = verdict;
  // The broker lists deletions last: if one is listed, all others are.
  const leftOut = findings.at(-1)?.kind === HARMLESS ? 0 : verdict.findings_left_out;
  return findings.filter(({ kind }) => kind !== HARMLESS).length + leftOut;
}

/** Return whether a finding is no fault. */
export function isHarmless(finding) {
  return finding.kind === HARMLESS;
}

/** Return where a finding is: partition, offsets, producer, sequence and rule. */
export function placeText(finding) {
  const [first, last] = finding.offsets;
  const parts = [`partition ${finding.partition}`];
  if (first !== undefined && OFFSET_RANGES.has(finding.kind)) parts.push(`offset${first === last ? "" : "s"} ${rangeText(first, last)}`);
  else if (first !== undefined) parts.push(`offsets ${first} and ${last}`);
  if (finding.producer_id >= 0) parts.push(`producer ${finding.producer_id} epoch ${finding.producer_epoch}`);
  if (finding.base_sequence >= 0) parts.push(`sequence ${finding.base_sequence}`);
  if (finding.rule !== null) parts.push(`rule ${finding.rule}`);
  return parts.join(" · ");
}

/** Finds the requests of a journal that sent the batches of findings on a topic. */
export class RequestsOfFindings {
  constructor(journal, topic) {
    // The ids of requests by the sequences of their batches, by the offsets of these, and by producer.
    this.bySequence = new Map();
    this.byOffset = new Map();
    this.byProducer = new Map();
    for (const entry of journal.entries) {
      for (const batch of entry.batches) if (batch.topic === topic) this.add(entry.id, batch);
    }
  }

  add(id, batch) {
    if (batch.base_offset >= 0) put(this.byOffset, [batch.partition, batch.base_offset], id);
    if (batch.producer_id < 0) return;
    put(this.bySequence, sequenceKey(batch), id);
    if (batch.producer_before_reset) put(this.byProducer, [batch.partition, batch.producer_id], id);
  }

  /** Return the ids of the requests that a finding is about, oldest first; none if they are no longer kept. */
  of(finding) {
    const ids = new Set();
    const take = (map, key) => map.get(JSON.stringify(key))?.forEach((id) => ids.add(id));
    if (isHarmless(finding)) return [];
    if (finding.kind === "producer_before_reset") take(this.byProducer, [finding.partition, finding.producer_id]);
    else if (finding.copies.length) for (const copy of finding.copies) take(this.byOffset, [copy.partition, copy.base_offset]);
    else if (finding.producer_id >= 0) take(this.bySequence, sequenceKey(finding));
    else if (finding.offsets.length) take(this.byOffset, [finding.partition, finding.offsets[0]]);
    return [...ids].sort((one, other) => one - other);
  }
}

function put(map, key, id) {
  const text = JSON.stringify(key);
  if (map.has(text)) map.get(text).push(id);
  else map.set(text, [id]);
}

function sequenceKey({ partition, producer_id: id, producer_epoch: epoch, base_sequence: sequence }) {
  return [partition, id, epoch, sequence];
}
