/** The verdict on a topic, with assertions whose failures explain themselves. */

import { AssertionError } from "node:assert";
import type { BatchSource } from "./state.js";

// The findings in the text of a failed assertion. The verdict has the others.
const FINDINGS_SHOWN = 5;

type Fate = "appendedOnce" | "appendedTwice" | "refused" | "duplicatesRecognised";
type Defect = "acknowledgedLost" | "storedUnacknowledged" | "reordered";
/** Counts of batches. docs/admin-api.md has the meaning of each. */
export type BatchVerdict = Record<Fate | Defect, number>;

type BatchFinding = "appended_twice" | "acknowledged_lost" | "stored_unacknowledged" | "reordered";
type FindingKind = BatchFinding | "hanging_transaction" | "deleted" | "producer_before_reset";

/** Batches that are not stored exactly once, a transaction that hangs, deleted records, or a producer from before a reset. */
export interface Finding extends BatchSource {
  kind: FindingKind;
  /** Of copies and of a reordered batch both places, otherwise the first and the last offset; empty without any. */
  offsets: number[];
  /** The reason as a sentence. */
  why: string;
  /** Of lost batches their number, otherwise 1. */
  batches: number;
  records: number;
  /** The event ids of lost records, by default their keys, as far as they are known. */
  events: string[];
  copies: (BatchSource & Record<"baseOffset" | "lastOffset", number>)[];
  /** The id of the fault rule that caused it. */
  rule: number | null;
  /** Of batches that an election lost: the epoch of the leader that appended them. */
  leaderEpoch: number | null;
  /** The ids of the requests that sent the batches, those that are still in the journal. */
  requests: number[];
}

/**
 * findingsLeftOut: how many more findings there are. forgotten: unacknowledged batches beyond the limit, in all topics;
 * copies of those are not found. refusedElsewhere: refused batches of topics that are not counted.
 */
export interface TopicVerdict extends Readonly<Record<"findingsLeftOut" | "forgotten" | "refusedElsewhere", number>> {
  readonly topic: string;
  readonly batches: BatchVerdict;
  readonly records: Record<"inLog" | "distinct" | "duplicates" | "deleted", number>;
  readonly findings: Finding[];
  readonly producers: { producerId: number; batches: BatchVerdict }[];
}

export class TopicVerdict {
  /** response: of GET /v1/verdict. */
  constructor(response: object) {
    Object.assign(this, response);
  }

  /**
   * Throws AssertionError unless every acknowledged record is in the log, none is in it twice and no transaction hangs, and
   * for a topic to which nothing was produced (test data is not). A record that was never acknowledged is no failure, nor is
   * one that retention deleted.
   */
  assertExactlyOnce(): void {
    this.#check("exactly once", ["acknowledged_lost", "appended_twice", "hanging_transaction"]);
  }

  /** Throws AssertionError unless every acknowledged record is in the log, or was deleted. */
  assertNothingLost(): void { this.#check("nothing lost", ["acknowledged_lost"]); }

  /** Throws AssertionError if a record is in the log twice. */
  assertNoDuplicates(): void { this.#check("no duplicates", ["appended_twice"]); }

  #check(wanted: string, kinds: FindingKind[]): void {
    const { batches, records, topic } = this;
    const fail = (...lines: string[]) => {
      throw new AssertionError({ message: lines.join("\n") });
    };
    if (Object.values(batches).every((count) => count === 0)) {
      fail(`nothing was produced to "${topic}", so there is nothing to judge`);
    }
    const lost = kinds.includes("acknowledged_lost") ? batches.acknowledgedLost : 0;
    const copied = kinds.includes("appended_twice") ? records.duplicates : 0;
    const hanging = kinds.includes("hanging_transaction")
      ? this.findings.filter((finding) => finding.kind === "hanging_transaction").length : 0;
    const found = [
      lost && `acknowledged batches lost: ${lost}`,
      copied && `records in the log twice: ${copied}`,
      hanging && `hanging transactions: ${hanging}`,
    ].filter(Boolean);
    if (found.length) {
      fail(`${topic}: expected ${wanted}, found ${found.join(", ")}`, ...this.#linesOf(kinds));
    }
    if (this.forgotten && kinds.includes("appended_twice")) {
      fail(`${topic}: copies of ${this.forgotten} unacknowledged batches, too many to keep, would not have been found`);
    }
  }

  #linesOf(kinds: FindingKind[]): string[] {
    const findings = this.findings.filter((finding) => kinds.includes(finding.kind));
    const lines = findings.slice(0, FINDINGS_SHOWN).map((finding) => `    ${describe(finding)}`);
    const left = findings.length - lines.length + this.findingsLeftOut;
    return left ? [...lines, `    and at most ${left} more`] : lines;
  }
}

function describe({ kind, partition, offsets, producerId, producerEpoch, baseSequence, why }: Finding): string {
  const between = kind === "appended_twice" || kind === "reordered" ? " and " : "..";
  const place = offsets.length ? `, offsets ${offsets.join(between)}` : "";
  const producer = producerId < 0 ? "" : `, producer ${producerId} epoch ${producerEpoch}`;
  const sequence = baseSequence < 0 ? "" : `, sequences from ${baseSequence}`;
  return `${kind.replaceAll("_", " ")}: partition ${partition}${place}${producer}${sequence}: ${why}`;
}
