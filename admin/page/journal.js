// The requests that the page knows: the newest of the journal, and which repeat which.

import { Counts } from "./counts.js";
import { FAMILIES, LEFT_APIS } from "./declared.js";

// As many as the journal keeps by default.
const REQUESTS_MAX = 10000;
// Removed at a time, so that most additions remove none.
const REMOVED_AT_ONCE = 500;
// As many as the broker keeps.
const MARKS_MAX = 1000;

/**
 * The requests of a journal in the order of their ids.
 * After each change its listeners are called with `added` and `removed`, lists of requests, and `replaced`, a list of the
 * request as it was and as it is; with `isCleared` if the broker has removed them, too.
 */
export class Journal {
  constructor() {
    this.entries = [];
    this.skipped = 0;
    // What happened between the requests, by the order of its ids.
    this.marks = [];
    // The names that all requests have.
    this.apis = new Counts();
    this.topics = new Counts();
    this.errors = new Counts();
    this.nodes = new Counts();
    // Earlier and later requests with the same batch, by id.
    this.repeats = new Map();
    this.repeatedBy = new Map();
    this.newestOfBatch = new Map();
    this.listeners = new Set();
  }

  /** Add new requests, and replace those that have changed. */
  add(items, skipped = 0) {
    this.skipped += skipped;
    const added = [];
    const replaced = [];
    for (const entry of items) {
      const last = this.entries.at(-1);
      if (last === undefined || entry.id > last.id) {
        this.entries.push(entry);
        this.link(entry);
        this.count(entry, 1);
        added.push(entry);
      } else {
        const at = indexOf(this.entries, entry.id);
        if (at < 0) continue;
        replaced.push([this.entries[at], entry]);
        this.count(this.entries[at], -1);
        this.count(entry, 1);
        this.entries[at] = entry;
      }
    }
    const over = this.entries.length - REQUESTS_MAX;
    this.changed({ added, replaced, removed: over > 0 ? this.remove(over + REMOVED_AT_ONCE) : [] });
  }

  /** Add new marks; those that it has are sent again after a connection was lost. */
  addMarks(items) {
    const last = this.marks.at(-1)?.id ?? 0;
    this.marks = [...this.marks, ...items.filter(({ id }) => id > last)].slice(-MARKS_MAX);
    this.changed({ added: [], replaced: [], removed: [] });
  }

  /** Remove the requests up to an id, and the marks before it. */
  clear(through) {
    this.skipped = 0;
    this.marks = this.marks.filter((mark) => mark.after_id >= through);
    this.changed({ added: [], replaced: [], removed: this.remove(firstFrom(this.entries, through + 1)), isCleared: true });
  }

  /** Return the request with an id; undefined if the page does not know it. */
  find(id) {
    return this.entries[indexOf(this.entries, id)];
  }

  count(entry, by) {
    this.apis.add(entry.api, by);
    this.nodes.add(entry.node, by);
    for (const topic of topicsOf(entry)) this.topics.add(topic, by);
    for (const error of errorsOf(entry)) this.errors.add(error, by);
  }

  link(entry) {
    for (const batch of entry.batches) {
      if (batch.producer_id < 0) continue;
      const key = keyOf(batch);
      const earlier = this.newestOfBatch.get(key);
      if (earlier !== undefined && earlier !== entry.id) {
        this.repeats.set(entry.id, earlier);
        this.repeatedBy.set(earlier, entry.id);
      }
      this.newestOfBatch.set(key, entry.id);
    }
  }

  remove(count) {
    const removed = this.entries.splice(0, count);
    for (const entry of removed) {
      this.count(entry, -1);
      const later = this.repeatedBy.get(entry.id);
      this.repeatedBy.delete(entry.id);
      if (later !== undefined) this.repeats.delete(later);
      for (const key of entry.batches.map(keyOf)) if (this.newestOfBatch.get(key) === entry.id) this.newestOfBatch.delete(key);
    }
    return removed;
  }

  changed(change) {
    for (const listener of this.listeners) listener(change);
  }
}

/** Return the place of the first request with this id or a greater one, in a list by id. */
export function firstFrom(entries, id) {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle].id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the place of the request with an id in a list by id; -1 if the list does not have it. */
export function indexOf(entries, id) {
  const at = firstFrom(entries, id);
  return entries[at]?.id === id ? at : -1;
}

function keyOf(batch) {
  return JSON.stringify([batch.topic, batch.partition, batch.producer_id, batch.producer_epoch, batch.base_sequence]);
}

/** Return the names of the errors of a request that the page has; the API may find more inside its response. */
export function errorsOf({ error, first_error: first, batches }) {
  if (error === null && !first && !batches.length) return [];
  return [error, first?.error, ...batches.map((batch) => batch.error)].filter(Boolean);
}

export function topicsOf(entry) {
  return entry.topics.length ? entry.topics : entry.batches.map((batch) => batch.topic);
}

/** Return whether a client has closed its connection as clients do: while it waited for records, or when it left a group. */
export function isLeft(entry) {
  return Boolean(entry.client_closed) && LEFT_APIS.includes(entry.api);
}

/** Return what a request shows at a glance: fault, lost, error, duplicate, waiting or ok. */
export function statusOf(entry) {
  if (entry.faults.some((fault) => fault.kind !== "observe")) return "fault";
  if (entry.answer === "not_written" && !isLeft(entry)) return "lost";
  if (entry.batches.some((batch) => batch.decision === "duplicate")) return "duplicate";
  if (entry.error !== null) return "error";
  return entry.answer === "waiting" ? "waiting" : "ok";
}

/** Return the family of a fault's kind. */
export function familyOf(kind) {
  return FAMILIES[kind] ?? "cut";
}

/** Return the name of the colour of a request: the family of its first fault, else its status. */
export function toneOf(entry, status) {
  const fault = entry.faults.find(({ kind }) => kind !== "observe");
  return status === "fault" ? familyOf(fault.kind) : status;
}
