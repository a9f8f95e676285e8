/** A broker in another process or container, called through its admin API. */

import { AdminClient } from "./admin-client.js";
import { type Flow, FlowVerdict, GroupVerdict } from "./consumers.js";
import { Faults } from "./faults.js";
import { Clock, Groups, Held, Journal, Producers, Topics, topicPath } from "./parts.js";
import type { Header, NodeStatus, PartitionState, StoredRecord, Surroundings } from "./state.js";
import { TopicVerdict } from "./verdict.js";
import { type WireBytes, bytesOf } from "./wire.js";

type RecordFilter = Partial<Record<"partition" | "fromOffset" | "toOffset" | "limit", number>>;
/** snapshots: of the state of producers. */
type RestartOptions = { node?: number; snapshots?: "keep" | "drop" | "corrupt" };
type CrashOptions = RestartOptions & { restartAfterMs?: number | null; noticed?: boolean };
type ProcessedOffsets = { partition: number; offset: number | number[] };
/** eventId: "value", "key", "header:NAME" or "json:PATH", by which the records are found. */
type ProcessedEvents = { event: string | string[]; eventId: string };
type WireRecord = Omit<StoredRecord, "key" | "value" | "headers"> &
  Record<"key" | "value", WireBytes> & { headers: Header<WireBytes>[] };

/** The operations of the admin API. Without a method of its own an operation is a `call`. */
export class RemoteBroker extends AdminClient {
  readonly faults = new Faults(this);
  readonly held = new Held(this);
  readonly journal = new Journal(this);
  readonly clock = new Clock(this);
  readonly topics = new Topics(this);
  readonly producers = new Producers(this);
  readonly groups = new Groups(this);

  /** Returns the verdict on a topic. eventId: "value", "key", "header:NAME" or "json:PATH", to find copies that were sent as new records. */
  async verdict(topic: string, eventId?: string): Promise<TopicVerdict> {
    return new TopicVerdict(await this.call("GET", "/v1/verdict", undefined, { topic, event_id: eventId }));
  }

  /** Returns the verdict on a consumer group. */
  async groupVerdict(group: string): Promise<GroupVerdict> {
    return new GroupVerdict(await this.call("GET", "/v1/verdict", undefined, { group }));
  }

  /** Returns the verdict on what an application makes of one topic in another. */
  async flowVerdict({ eventId, ...flow }: Flow): Promise<FlowVerdict> {
    return new FlowVerdict(await this.call("GET", "/v1/verdict", undefined, { ...flow, event_id: eventId }));
  }

  /** Reports records as processed by the application of a group. What is reported twice was processed twice. */
  async processed(group: string, topic: string, records: ProcessedOffsets | ProcessedEvents): Promise<void> {
    await this.call("POST", "/v1/processed", { group, topic, ...records });
  }

  /** Returns the records in the log of a topic, sorted by partition and offset. fromOffset, toOffset: both included. */
  async records(topic: string, { partition, fromOffset, toOffset, limit }: RecordFilter = {}): Promise<StoredRecord[]> {
    const query = { partition, from_offset: fromOffset, to_offset: toOffset };
    return (await this.pages<WireRecord>(`${topicPath(topic)}/records`, query, limit)).map(storedRecord);
  }

  /** Resets the broker: its faults, its journal, its data with its clock, or all of them. */
  async reset(scope: "all" | "data" | "faults" | "journal" = "all"): Promise<void> {
    await this.call("POST", "/v1/reset", { scope });
  }

  /** Copies logs, producers, topics, configs and committed offsets, and returns the id of the copy for restore. */
  async snapshot(): Promise<number> { return (await this.call<{ id: number }>("POST", "/v1/snapshot")).id; }

  /** Restores a snapshot, any number of times; closes the connections, ends isolations, resets the verdict. */
  async restore(id: number): Promise<void> { await this.call("POST", "/v1/restore", { id }); }

  /** Returns all nodes with their state, in the order of their ids. */
  nodes(): Promise<NodeStatus[]> { return this.items("GET", "/v1/nodes"); }

  /** Returns leader, ISR and offsets of all partitions, of those of a topic, or of one. */
  partitions(topic?: string, partition?: number): Promise<PartitionState[]> {
    return this.pages("/v1/partitions", { topic, partition });
  }

  /** Stops a node, as SIGTERM does, or as SIGKILL if not controlled. noticed: the controller learns of that at once. */
  stopNode(node: number, how: { controlled?: boolean; noticed?: boolean } = {}): Promise<NodeStatus> {
    return this.call("POST", `/v1/nodes/${node}/stop`, how);
  }

  /** Starts a node that is down. */
  startNode(node: number): Promise<NodeStatus> { return this.call("POST", `/v1/nodes/${node}/start`); }

  /** Crashes a node as with SIGKILL, by default the only one. restartAfterMs: null, the default, for no restart. */
  async crash(how: CrashOptions = {}): Promise<void> { await this.call("POST", "/v1/crash", how); }

  /** Restarts a crashed node. */
  async restart(how: RestartOptions = {}): Promise<void> { await this.call("POST", "/v1/restart", how); }

  /** Cuts a node off from the controller, the other nodes or its clients, until it rejoins. */
  isolate(node: number, from: Surroundings[]): Promise<NodeStatus> {
    return this.call("POST", `/v1/nodes/${node}/isolate`, { from });
  }

  /** Ends the isolation of a node. */
  rejoin(node: number): Promise<NodeStatus> { return this.call("POST", `/v1/nodes/${node}/rejoin`); }

  /** Makes a node the leader of a partition. unclean: also one that is not in the ISR. */
  moveLeader(topic: string, partition: number, node: number, { unclean = false } = {}): Promise<PartitionState> {
    return this.call("POST", "/v1/partitions/leader", { topic, partition, node, unclean });
  }
}

function storedRecord(record: WireRecord): StoredRecord {
  const [key, value] = [bytesOf(record.key), bytesOf(record.value)];
  const headers = record.headers.map((header) => ({ name: header.name, value: bytesOf(header.value) }));
  return { ...record, key, keyText: key?.toString() ?? null, value, valueText: value?.toString() ?? null, headers };
}
