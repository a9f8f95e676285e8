/** The parts of a broker that a test reads and changes: held requests, journal, clock, topics, producers, groups. */

import { BrokerPart, type Query } from "./admin-client.js";
import type { Match } from "./rules.js";
import type { GroupInfo, HeldRequest, JournalEntry, ProducerInfo } from "./state.js";
import type { SeedRecord, SeededRecord, TopicInfo } from "./state.js";
import { toWire } from "./wire.js";

/** Filters of the journal: the fields of a rule's match. since: only requests with a greater id. */
export type JournalFilter = Match & { since?: number };
type ClockInfo = { mode: "real" | "manual"; nowMs: number; skewMs: number };
type Place = { topic?: string; partition?: number };
type NewTopic = { partitions?: number; configs?: Record<string, string | number | boolean> };

/** The requests that fault rules hold. */
export class Held extends BrokerPart {
  /** Returns the held requests, in the order of their arrival. */
  list(): Promise<HeldRequest[]> { return this.client.pages("/v1/held"); }

  /** Releases requests in this order; without arguments all. */
  async release(...requests: { id: number }[]): Promise<void> {
    const ids = (requests.length ? requests : await this.list()).map(({ id }) => id);
    if (ids.length) await this.client.call("POST", "/v1/held/release", { ids });
  }
}

/** The requests that the broker has received. */
export class Journal extends BrokerPart {
  /** Returns the matching requests, oldest first. */
  entries({ limit, ...filter }: JournalFilter & { limit?: number } = {}): Promise<JournalEntry[]> {
    return this.client.pages("/v1/journal", queryOf(filter), limit);
  }

  /** Returns the number of matching requests. */
  async count(filter: JournalFilter = {}): Promise<number> {
    return (await this.client.call<{ count: number }>("GET", "/v1/journal/count", undefined, queryOf(filter))).count;
  }

  /** Deletes all requests and resets the verdict. */
  async clear(): Promise<void> { await this.client.call("DELETE", "/v1/journal"); }
}

function queryOf({ since, ...match }: JournalFilter): Query {
  return { since, match: JSON.stringify(toWire(match)) };
}

/** The clock of all timeouts and expiries of the broker. Times are in ms since 1970. */
export class Clock extends BrokerPart {
  /** Returns the time, the mode ("manual" moves only when it is advanced), and how far the date is ahead of the time. */
  info(): Promise<ClockInfo> { return this.client.call("GET", "/v1/clock"); }

  /** Returns the time. */
  async nowMs(): Promise<number> { return (await this.info()).nowMs; }

  /** Stops the clock, or lets it run from its current time. */
  async setMode(mode: ClockInfo["mode"]): Promise<void> { await this.client.call("POST", "/v1/clock", { mode }); }

  /** Advances the clock, in either mode; runs the expired timers, then returns the time. */
  async advance(advanceMs: number): Promise<number> {
    return (await this.client.call<ClockInfo>("POST", "/v1/clock", { advanceMs })).nowMs;
  }
}

export class Topics extends BrokerPart {
  /** Returns all topics, sorted by name. */
  list(): Promise<TopicInfo[]> { return this.client.pages("/v1/topics"); }

  /** Returns a topic. */
  get(name: string): Promise<TopicInfo> { return this.client.call("GET", topicPath(name)); }

  /** Creates a topic, with Kafka's checks. partitions: num.partitions by default. */
  create(name: string, chosen: NewTopic = {}): Promise<TopicInfo> {
    return this.client.call("POST", "/v1/topics", { name, ...chosen });
  }

  /** Deletes a topic with its records, and returns it as it was. */
  delete(name: string): Promise<TopicInfo> { return this.client.call("DELETE", topicPath(name)); }

  /** Appends test data, all records or none, and returns their places. This is no Produce: no fault rule applies. */
  seed(name: string, records: SeedRecord[]): Promise<SeededRecord[]> {
    return this.client.items("POST", `${topicPath(name)}/records`, { records });
  }
}

export function topicPath(name: string): string {
  return `/v1/topics/${encodeURIComponent(name)}`;
}

/**
 * The state of idempotent producers in the partitions. A change applies to all partitions of a producer, to those of a
 * topic, or to one, and returns the state before it.
 */
export class Producers extends BrokerPart {
  /** Returns epoch, next sequence and cached batches of each producer. */
  list({ producerId, ...place }: Place & { producerId?: number } = {}): Promise<ProducerInfo[]> {
    return this.client.pages("/v1/producers", { ...place, producer_id: producerId });
  }

  /** Removes a producer. */
  forget(producerId: number, place: Place = {}): Promise<ProducerInfo[]> {
    return this.#change("forget", producerId, place);
  }

  /** Expires a producer, as after producer.id.expiration.ms. */
  expire(producerId: number, place: Place = {}): Promise<ProducerInfo[]> {
    return this.#change("expire", producerId, place);
  }

  /** Raises the epoch of a producer, so that its requests are fenced. */
  bumpEpoch(producerId: number, place: Place = {}): Promise<ProducerInfo[]> {
    return this.#change("bump_epoch", producerId, place);
  }

  /** Drops the cached batches of a producer, so that retries are not recognised; the next sequence stays. */
  evictCache(producerId: number, place: Place = {}): Promise<ProducerInfo[]> {
    return this.#change("evict_cache", producerId, place);
  }

  #change(change: string, producerId: number, place: Place): Promise<ProducerInfo[]> {
    return this.client.items("POST", `/v1/producers/${change}`, { producerId, ...place });
  }
}

export class Groups extends BrokerPart {
  /** Returns the groups of every type with their members, assignments and committed offsets. */
  list(): Promise<GroupInfo[]> { return this.client.pages("/v1/groups"); }

  /** Returns a group. */
  get(groupId: string): Promise<GroupInfo> {
    return this.client.call("GET", `/v1/groups/${encodeURIComponent(groupId)}`);
  }
}
