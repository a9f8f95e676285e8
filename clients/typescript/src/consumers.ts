/** The verdicts on a consumer group, and on what an application makes of one topic in another. */

import { AssertionError } from "node:assert";

// The findings in the text of a failed assertion, and the events of each. The verdict has the others.
const FINDINGS_SHOWN = 5;
const EVENTS_SHOWN = 3;

/** What a group got of a partition. processedFrom: the reports of the application, or what was delivered and committed. */
export interface GroupPartition extends Record<"partition" | "delivered" | "processed", number> {
  topic: string;
  processedFrom: "reports" | "commits";
  committed: number | null;
  lag: number | null;
}

/** Offsets, first and last, that a group got twice, never or out of order, or a commit that leads to that. */
export interface GroupFinding extends Record<"kind" | "cause" | "topic" | "why" | "member", string> {
  partition: number;
  offsets: number[];
  count: number;
  keys: string[];
  /** The ids of the requests in the journal. */
  requestIds: number[];
}

/** reportsLeftOut: reports of the application that were too many to keep. notes: what the verdict cannot tell. */
export interface GroupVerdict extends Readonly<Record<"findingsLeftOut" | "reportsLeftOut", number>> {
  readonly group: string;
  readonly partitions: GroupPartition[];
  readonly findings: GroupFinding[];
  readonly notes: string[];
}

export class GroupVerdict {
  /** response: of GET /v1/verdict. */
  constructor(response: object) {
    Object.assign(this, response);
  }

  /** The sum of the lags of all partitions. */
  get lag(): number { return this.partitions.reduce((sum, { lag }) => sum + (lag ?? 0), 0); }

  /** Throws AssertionError if a record was sent to the group twice, or nothing was. */
  assertDeliveredOnce(): void { this.#checkDelivered("every record delivered once", ["delivered_twice", "hanging"]); }

  /** Throws AssertionError if the group has passed over a record, or got nothing. */
  assertNothingSkipped(): void { this.#checkDelivered("nothing skipped", ["never_delivered", "archived"]); }

  /** Throws AssertionError unless the application has reported every record once, up to where it or the group is. */
  assertProcessedOnce(): void {
    if (!this.partitions.some(({ processedFrom }) => processedFrom === "reports")) {
      fail(`no application has reported what group ${this.group} processed`);
    }
    const kinds = ["processed_twice", "committed_unprocessed", "never_processed", "never_delivered"];
    this.#check("every record processed once", kinds);
    if (this.reportsLeftOut) fail(`group ${this.group}: ${this.reportsLeftOut} reports were too many to keep`);
  }

  /** Throws AssertionError if more records than most are not committed yet. */
  assertLag(most: number): void {
    if (this.lag > most) fail(`group ${this.group}: expected a lag of at most ${most}, found ${this.lag}`);
  }

  #checkDelivered(wanted: string, kinds: string[]): void {
    this.#check(wanted, kinds);
    if (!this.partitions.some(({ delivered }) => delivered)) {
      fail(`nothing was delivered to group ${this.group}, so there is nothing to judge`);
    }
  }

  #check(wanted: string, kinds: string[]): void {
    const found = this.findings.filter(({ kind }) => kinds.includes(kind));
    const lines = found.map(({ kind, topic, partition, offsets, why }) =>
      `${kind.replaceAll("_", " ")}: ${topic}-${partition}, offsets ${offsets.join("..")}: ${why}`);
    if (lines.length || this.findingsLeftOut) {
      fail(`group ${this.group}: expected ${wanted}, found`, lines, this.notes);
    }
  }
}

/** An application that reads one topic and writes another. group: the one by which it reads, for the reasons. */
export interface Flow {
  from: string;
  to: string;
  /** "value", "key", "header:NAME" or "json:PATH". */
  eventId: string;
  group?: string;
}

export type FlowKind = "lost" | "doubled" | "out_of_order" | "unexpected";
/** A record of one of the two topics. */
export type FlowPlace = Record<"partition" | "offset", number>;

/** Events, the first of `count`, to which the same happened for the same reason. */
export interface FlowFinding {
  kind: FlowKind;
  cause: string;
  /** The reason as a sentence. */
  why: string;
  count: number;
  events: { event: string; input: FlowPlace[]; output: FlowPlace[] }[];
  /** The ids of the requests in the journal. */
  requestIds: number[];
}

/** unjudged: kinds of findings that cannot be told, for the reasons in notes. */
export interface FlowVerdict extends Readonly<Record<"fromTopic" | "toTopic", string>> {
  readonly group: string | null;
  readonly events: Record<"input" | "output" | "once" | "lost" | "doubled" | "outOfOrder" | "unexpected", number>;
  readonly findings: FlowFinding[];
  readonly unjudged: FlowKind[];
  readonly notes: string[];
}

export class FlowVerdict {
  /** response: of GET /v1/verdict. */
  constructor(response: object) {
    Object.assign(this, response);
  }

  /**
   * Throws AssertionError unless the output has every event of the input, none more often than the input, and no others; also
   * if the input has no events, or if it cannot be told.
   */
  assertExactlyOnce(): void { this.#check("exactly once", ["lost", "doubled", "unexpected"]); }

  /** Throws AssertionError unless every event of the input is in the output. */
  assertNothingLost(): void { this.#check("nothing lost", ["lost"]); }

  /** Throws AssertionError if an event is in the output more often than in the input. */
  assertNoDuplicates(): void { this.#check("no duplicates", ["doubled"]); }

  /** Throws AssertionError unless each output partition has the events of an input partition in their order. */
  assertInOrder(): void { this.#check("the order of the input", ["out_of_order"]); }

  #check(wanted: string, kinds: FlowKind[]): void {
    const flow = `${this.fromTopic} to ${this.toTopic}`;
    const found = this.findings.filter(({ kind }) => kinds.includes(kind));
    if (found.length) fail(`${flow}: expected ${wanted}, found`, found.map(describe), this.notes);
    if (!this.events.input) fail(`${this.fromTopic} has no events, so there is nothing to judge`, [], this.notes);
    if (kinds.some((kind) => this.unjudged.includes(kind))) {
      fail(`${flow}: cannot tell whether it is ${wanted}`, [], this.notes);
    }
  }
}

function describe({ kind, count, events, why }: FlowFinding): string {
  const named = events.slice(0, EVENTS_SHOWN).map(({ event }) => event).join(", ");
  return `${kind.replaceAll("_", " ")}: ${count} events, such as ${named}: ${why}`;
}

function fail(head: string, findings: string[] = [], notes: string[] = []): never {
  throw new AssertionError({ message: [head, ...findings.slice(0, FINDINGS_SHOWN), ...notes].join("\n    ") });
}
