// The conditions of the timeline's filter: on a request of the page, in a call of the API, and in an address.

import { errorsOf, statusOf, topicsOf } from "./journal.js";

// What a person may type into a field of numbers; -1 is a batch without a producer.
const NUMBERS = { partition: /^\d{1,10}$/, producer: /^(-1|\d{1,18})$/, node: /^\d{1,10}$/ };

// By the names of the conditions, as in an address. `notable` is "on" or missing.
const TESTS = {
  api: (entry, { api }) => entry.api === api,
  topic: (entry, { topic }) => topicsOf(entry).includes(topic),
  partition: hasPartition,
  producer: hasPartition,
  client: (entry, { client }) => (entry.client_id ?? "").includes(client),
  node: (entry, { node }) => String(entry.node) === node,
  error: (entry, { error }) => errorsOf(entry).includes(error),
  notable: (entry) => statusOf(entry) !== "ok",
};
export const CONDITIONS = Object.keys(TESTS);

/** Return whether a request fulfils all conditions of a filter; an empty condition is none. */
export function isSelected(entry, filter) {
  return CONDITIONS.every((name) => !filter[name] || TESTS[name](entry, filter));
}

/** Return whether topic, partition and producer hold together for one batch or partition, as in the match of a fault rule. */
function hasPartition(entry, filter) {
  return partitionsOf(entry).some((each) => isOfPartition(each, filter));
}

function isOfPartition(part, { topic, partition, producer }) {
  if (topic && part.topic !== topic) return false;
  if (partition && String(part.partition) !== partition) return false;
  return !producer || String(part.producer_id) === producer;
}

/** Return the batches of a request, or the partitions that it reads or commits. */
function partitionsOf({ batches, fetch, list_offsets: listed, offsets, share }) {
  if (batches.length) return batches;
  return fetch?.partitions ?? listed?.partitions ?? offsets?.offsets ?? share?.partitions ?? [];
}

/** Return whether a filter has a condition. */
export function hasConditions(filter) {
  return CONDITIONS.some((name) => Boolean(filter[name]));
}

/** Return the parameters of `GET /v1/journal` for a filter; null if no request can fulfil it, because a number is none. */
export function queryOf(filter) {
  for (const [name, pattern] of Object.entries(NUMBERS)) if (filter[name] && !pattern.test(filter[name])) return null;
  const query = new URLSearchParams();
  const set = (name, value) => value && query.set(name, value);
  set("api", filter.api);
  set("topic", filter.topic);
  set("partition", filter.partition);
  set("producer_id", filter.producer);
  set("node", filter.node);
  set("error", filter.error);
  set("notable", filter.notable && "true");
  if (filter.client) query.set("match", JSON.stringify({ client_id: { regex: `(?s).*${escaped(filter.client)}.*` } }));
  return query;
}

/** Return a text as a regular expression of RE2 that it matches. */
function escaped(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Return the parts of an address for a filter and what there is a lane per. */
export function addressPartsOf(filter, by) {
  const parts = CONDITIONS.filter((name) => filter[name]).map((name) => `${name}=${filter[name]}`);
  return by === "client" ? parts : [...parts, `lane=${by}`];
}

/** Return what the parts of an address choose: the `id` of a request or null, the `filter`, and what a lane is `by`. */
export function choiceOf(parts) {
  const found = { id: null, filter: {}, by: "client" };
  for (const part of parts) {
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(at, 0));
    if (at < 0) found.id = Number(part) || null;
    else if (name === "lane") found.by = part.slice(at + 1);
    else if (CONDITIONS.includes(name)) found.filter[name] = part.slice(at + 1);
  }
  return found;
}
