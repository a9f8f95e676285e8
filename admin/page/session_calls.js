// The calls of the admin API as methods of the fixture `fauxka`. Source: testing/node.py, testing/state.py and their neighbours.

import { pythonText } from "./copy_text.js";

/** What the calls that make something with an id make. */
export const MADE = { "/v1/rules": "rule", "/v1/files": "file_rule", "/v1/snapshot": "snapshot" };

/** The calls that prepare a test, before the code under test runs. */
export const SETUP = /^(POST|PUT|PATCH|DELETE) \/v1\/(rules|files|topics|acls|quotas|users)\b|^POST \/v1\/reset/;

/** Return arguments by name, without those that are missing. */
function named(fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return given.map(([name, value]) => `${name}=${pythonText(value)}`).join(", ");
}

function listed(...words) {
  return words.filter((word) => word !== "").join(", ");
}

/** Return the change of the producers of a partition: in a test a producer has another id. */
function producers(method) {
  return ({ body: { topic, partition } }) =>
    `for producer in fauxka.producers.list(${named({ topic, partition })}):\n` +
    `    fauxka.producers.${method}(${listed("producer.producer_id", "producer.topic", "producer.partition")})`;
}

/** Return the release of held requests by their places, because in a test they have other ids; without places, of all. */
function release({ places }) {
  if (places === undefined) return "fauxka.held.release()";
  return `held = fauxka.held.list()\nfauxka.held.release(${places.map((place) => `*held[${place}:${place + 1}]`).join(", ")})`;
}

/** Return the line for a rule or snapshot of a variable; a test has none that was made before the session. */
function onKnown(write) {
  return (call) => (call.variable === null ? "# Changes what was made before this session." : write(call.variable, call));
}

function replaced(rules) {
  return onKnown((variable, { body }) => `${variable} = ${rules}.replace(${variable}.id, ${pythonText(body)})`);
}

/** Each call, and the function that writes its line from the ids in the path, the body and the variable of what it names. */
/** @type {[RegExp, (call: any) => any][]} */
export const CALLS = [
  [/^POST \/v1\/files$/, ({ body }) => `fauxka.files.add(${pythonText(body)})`],
  [/^PATCH \/v1\/(?:rules|files)\/\d+$/, onKnown((variable, { body }) => `${variable}.${body.enabled ? "enable" : "disable"}()`)],
  [/^DELETE \/v1\/(?:rules|files)\/\d+$/, onKnown((variable) => `${variable}.remove()`)],
  [/^PUT \/v1\/rules\/\d+$/, replaced("faults")],
  [/^PUT \/v1\/files\/\d+$/, replaced("fauxka.files")],
  [/^DELETE \/v1\/rules$/, () => "faults.clear()"],
  [/^DELETE \/v1\/files$/, () => "fauxka.files.clear()"],
  [/^POST \/v1\/held\/release$/, release],
  [/^POST \/v1\/producers\/(forget|expire|bump_epoch|evict_cache)$/, (call) => producers(call.ids[0])(call)],
  [/^POST \/v1\/clock$/, ({ body }) => clock(body)],
  [/^POST \/v1\/crash$/, ({ body }) => `fauxka.crash(${named(body)})`],
  [/^POST \/v1\/restart$/, ({ body }) => `fauxka.restart(${named(body)})`],
  [/^POST \/v1\/reset$/, ({ body }) => `fauxka.reset(${pythonText(body.scope ?? "all")})`],
  [/^POST \/v1\/snapshot$/, () => "fauxka.snapshot()"],
  [/^POST \/v1\/restore$/, onKnown((variable) => `fauxka.restore(${variable})`)],
  [/^DELETE \/v1\/snapshot\/\d+$/, onKnown((variable) => `fauxka.snapshots.delete(${variable})`)],
  [/^DELETE \/v1\/journal$/, () => "fauxka.journal.clear()"],
  [/^POST \/v1\/topics$/, ({ body: { name, ...rest } }) => `fauxka.topics.create(${listed(pythonText(name), named(rest))})`],
  [/^DELETE \/v1\/topics\/([^/]+)$/, ({ ids }) => `fauxka.topics.delete(${pythonText(ids[0])})`],
  [
    /^POST \/v1\/topics\/([^/]+)\/records$/,
    ({ ids, body }) => `fauxka.topics.seed(${listed(pythonText(ids[0]), pythonText(body.records))})`,
  ],
  [/^POST \/v1\/nodes\/(\d+)\/stop$/, ({ ids, body }) => `fauxka.stop_node(${listed(ids[0], named(body))})`],
  [/^POST \/v1\/nodes\/(\d+)\/start$/, ({ ids }) => `fauxka.start_node(${ids[0]})`],
  [/^POST \/v1\/nodes\/(\d+)\/isolate$/, ({ ids, body }) => `fauxka.isolate(${ids[0]}, ${pythonText(body.from)})`],
  [/^POST \/v1\/nodes\/(\d+)\/rejoin$/, ({ ids }) => `fauxka.rejoin(${ids[0]})`],
  [/^POST \/v1\/partitions\/leader$/, ({ body }) => `fauxka.move_leader(${named(body)})`],
  [/^POST \/v1\/replication\/(pause|resume)$/, ({ ids, body }) => `fauxka.${ids[0]}_replication(${named(body)})`],
];

function clock({ mode, advance_ms }) {
  const lines = [];
  if (mode !== undefined) lines.push(`fauxka.clock.set_mode(${pythonText(mode)})`);
  if (advance_ms !== undefined) lines.push(`fauxka.clock.advance(${advance_ms})`);
  return lines.join("\n");
}
