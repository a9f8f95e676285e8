/** Fault rules: which requests, when, at which point, and what is done. docs/faults.md has the effect of each. */

import type { NearMiss } from "./errors.js";
import type { Bytes } from "./wire.js";

type OneOrMore<Value> = Value | Value[];
type Text = string | { regex: string };
type Integer = number | { from?: number; to?: number };
type TextField = "listener" | "clientId" | "principal" | "transactionalId" | "groupId" | "topic";
type BatchField = "partition" | "producerId" | "producerEpoch" | "baseSequence" | "recordCount";

/** Conditions that must all hold. A list matches if any of its values does; a regex must match the whole text. */
export type Match = Partial<
  Record<"api" | "mechanism", OneOrMore<string>> &
    Record<TextField, OneOrMore<Text>> &
    Record<"apiVersion" | "node" | "connection" | BatchField, OneOrMore<Integer>> & {
      key: OneOrMore<Bytes>;
      header: OneOrMore<{ name: string; value?: Bytes }>;
    }
>;

/** Which of the matches hit. times: 1 by default, null for no limit. afterMs, untilMs: since the rule was added. */
export type When = Partial<
  Record<"skip" | "every" | "probability" | "seed" | "afterMs", number> & Record<"times" | "untilMs", number | null>
>;

export type Point = "accepted" | "received" | "applied" | "answering";
export type Scope = "request" | "topic" | "partition";
export type Action =
  | { kind: "observe" | "drop" | "close" | "reset" | "deliver_twice" }
  | { kind: "error"; error: string | number; scope?: Scope | null }
  | { kind: "delay"; ms: number; releaseOrder?: boolean }
  | { kind: "hang" | "hold"; releaseOrder?: boolean }
  | { kind: "truncate"; bytes: number }
  | { kind: "corrupt"; at: number; bytes: number }
  | { kind: "drip"; bytes: number; everyMs: number }
  | { kind: "throttle"; ms: number }
  | { kind: "crash"; restartAfterMs?: number | null };

/** enabled: false adds the rule disabled. */
export type FaultRule = { name?: string; enabled?: boolean; match?: Match; when?: When; point: Point; action: Action };

/** A rule with its counts. remaining: null for no limit. */
export type RuleInfo = Required<FaultRule> &
  Record<"id" | "hits" | "matched", number> &
  Record<"remaining" | "lastHitMs", number | null> & { nearMisses: NearMiss[] };
