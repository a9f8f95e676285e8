/** The objects of the admin API: requests, records, topics, producers, groups, nodes. docs/admin-api.md explains. */

import type { Bytes } from "./wire.js";

type Numbers<Names extends string> = Record<Names, number>;
type Texts<Names extends string> = Record<Names, string>;
/** A number that is missing if no node with a replica runs. */
type MaybeNumbers<Names extends string> = Record<Names, number | null>;

/** Where a batch is from; -1 for missing numbers. */
export type BatchSource = Numbers<"partition" | "producerId" | "producerEpoch" | "baseSequence">;
export type SentBatch = BatchSource & Numbers<"lastSequence" | "records"> & { topic: string };
export type JournalBatch = SentBatch &
  Numbers<"baseOffset"> & {
    decision: "appended" | "duplicate" | "refused" | "not_applied";
    error: string | null;
    why: string;
    expectedSequence: number | null;
    producerBeforeReset: boolean;
  };

type Request = Numbers<"id" | "node" | "connection" | "apiVersion" | "correlationId" | "size" | "batchesLeftOut"> &
  Texts<"api" | "software"> & { clientId: string | null; topics: string[] };
export type JournalEntry = Request &
  Texts<"listener" | "clientHost" | "principal" | "answer"> & {
    atMs: number;
    groupIds: string[];
    transactionalId: string | null;
    batches: JournalBatch[];
    answered: boolean;
    error: string | null;
    rule: number | null;
    faults: { rule: number; point: string; kind: string }[];
  };
export type HeldRequest = Request & Numbers<"rule" | "sinceMs"> & { point: string; batches: SentBatch[] };

export type Header<Value> = { name: string; value: Value };
/** Without a key and a partition records go to the partitions in turn. timestamp: now by default. */
export type SeedRecord = Partial<Record<"key" | "value", Bytes | null> & Numbers<"partition" | "timestamp">> & {
  headers?: Header<Bytes | null>[];
};
export type SeededRecord = Numbers<"partition" | "offset" | "timestamp">;
/** A record of the log. keyText, valueText: key and value as UTF-8. */
export type StoredRecord = SeededRecord &
  Numbers<"producerId" | "producerEpoch" | "sequence" | "leaderEpoch"> &
  Record<"key" | "value", Buffer | null> &
  Record<"keyText" | "valueText", string | null> & {
    headers: Header<Buffer | null>[];
    timestampType: "CreateTime" | "LogAppendTime";
    isControl: boolean;
    transaction: "none" | "open" | "committed" | "aborted";
    compression: "none" | "gzip" | "snappy" | "lz4" | "zstd";
  };

type Offsets = "logStartOffset" | "logEndOffset" | "highWatermark" | "lastStableOffset";
export type TopicInfo = Texts<"name" | "topicId"> & {
  internal: boolean;
  configs: Record<string, string>;
  partitions: (Numbers<"partition" | "leader" | "leaderEpoch"> & MaybeNumbers<Offsets | "sizeBytes" | "producers">)[];
};

export type ProducerInfo = Numbers<"partition" | "producerId" | "producerEpoch" | "nextSequence" | "lastTimestamp"> & {
  topic: string;
  cached: Numbers<"baseSequence" | "lastSequence" | "baseOffset" | "timestamp">[];
  currentTxnFirstOffset: number | null;
};

/** partitions: by topic; null for a member that is no consumer. */
type Member = Texts<"memberId" | "clientId" | "clientHost"> & {
  groupInstanceId: string | null;
  partitions: Record<string, number[]> | null;
};
export type GroupInfo = Texts<"groupId" | "type" | "state" | "protocolType" | "protocol"> & {
  members: Member[];
  offsets: (Numbers<"partition" | "offset" | "leaderEpoch"> & Texts<"topic" | "metadata"> & { lag: number | null })[];
};

export type Surroundings = "controller" | "nodes" | "clients";
export type NodeStatus = Numbers<"node" | "leads" | "connections"> & {
  state: "running" | "stopped" | "crashed";
  bootstrap: string;
  rack: string | null;
  isController: boolean;
  isolatedFrom: Surroundings[];
};
/** leader: -1 for none. replicas, isr, elr, offline: ids of nodes. */
export type PartitionState = Numbers<"partition" | "leader" | "leaderEpoch" | "partitionEpoch"> &
  Record<"replicas" | "isr" | "elr" | "offline", number[]> &
  MaybeNumbers<"highWatermark" | "logStartOffset"> & { topic: string };
