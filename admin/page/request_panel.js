// The panel of one request: what it asked, what met it, what the broker decided and why, and the response.

import { headerPart } from "./batch_header.js";
import { button, element, facts } from "./dom.js";
import { dateText, decisionText, rangeText } from "./format.js";
import { familyOf } from "./journal.js";
import { addressOf } from "./navigation.js";

const ANSWERS = {
  written: "written",
  waiting: "not yet written",
  not_owed: "none is owed",
  not_written: "not written, or only in part",
};

/**
 * Return the panel of a request.
 * links: `jump(id)`, `close()`; missing in a report: `producers(topic, id)` and `header(batch)` return promises of the states
 * of a producer and of the batch in the log, `likeThis(entry)` the buttons that add a rule for the next such request.
 */
export function requestPanel(entry, journal, links) {
  return element(
    "section",
    { class: "panel", "aria-label": `Request ${entry.id}` },
    element(
      "header",
      {},
      element("h2", {}, `${entry.api} `, element("small", {}, `request ${entry.id}`)),
      button("✕", links.close, { kind: "quiet", "aria-label": "Close" }),
    ),
    repeatsOf(entry, journal, links),
    links.likeThis?.(entry),
    entry.faults.length ? faultsOf(entry) : null,
    batchParts(entry, links),
    element("h3", {}, "Request"),
    facts([
      ["Time", dateText(entry.at_ms)],
      ["API", `${entry.api} v${entry.api_version}`],
      ["Duration", entry.took_ms == null ? undefined : tookText(entry)],
      ["Response", entry.client_closed ? "not written: the client closed its connection before" : (ANSWERS[entry.answer] ?? entry.answer)],
      ["Error", entry.error],
      ["Topics", namesPart("topics", entry.topics, links)],
      ["Groups", namesPart("groups", entry.group_ids, links)],
      ["Transactional id", entry.transactional_id ?? undefined],
      ["Client", `${entry.client_id ?? "no id"} · ${entry.software}`],
      ["Connection", `${entry.connection} from ${entry.client_host}, ${entry.listener} of node ${entry.node}`],
      ["Principal", entry.principal],
      ["Correlation id", entry.correlation_id],
      ["Size", `${entry.size} bytes`],
    ]),
  );
}

/** Return names, on the page of a running broker with links to the view that has them; undefined for none. */
function namesPart(view, names, links) {
  if (!names.length) return undefined;
  if (links.header === undefined) return names.join(", ");
  return names.flatMap((name, at) => [at ? ", " : null, element("a", { href: addressOf(view, name) }, name)]);
}

/** Return how long the response took, and how long of that a fault held it. */
function tookText({ took_ms: took, injected_ms: injected }) {
  const whole = `${took.toLocaleString("en")} ms`;
  return injected ? `${whole}, of it ${injected.toLocaleString("en")} ms injected` : whole;
}

function repeatsOf(entry, journal, links) {
  const earlier = journal.repeats.get(entry.id);
  const later = journal.repeatedBy.get(entry.id);
  if (earlier === undefined && later === undefined) return null;
  const link = (id, text) => (id === undefined ? null : button(text, () => links.jump(id), { kind: "link" }));
  return element("p", { class: "links" }, link(earlier, `↻ repeats request ${earlier}`), link(later, `repeated by request ${later}`));
}

function faultsOf(entry) {
  return element(
    "ul",
    { class: "faults" },
    entry.faults.map((fault) =>
      element("li", {}, element("i", { class: `dot is-${familyOf(fault.kind)}` }), `${fault.kind} at ${fault.point}, by rule ${fault.rule}`),
    ),
  );
}

function batchParts(entry, links) {
  // A request may have hundreds of batches of one producer.
  const states = new Map();
  const statesOf = ({ topic, producer_id: id }) => {
    const key = JSON.stringify([topic, id]);
    if (!states.has(key)) states.set(key, links.producers(topic, id));
    return states.get(key);
  };
  return entry.batches.map((batch) => batchPart(batch, links, statesOf));
}

function batchPart(batch, links, statesOf) {
  const state = element("div", { class: "window" });
  const part = element(
    "article",
    { class: `batch is-${batch.decision}` },
    element("h3", {}, `${batch.topic}-${batch.partition}`),
    element("p", { class: "decided" }, decidedPart(batch, links)),
    // Of an appended batch it says the same as the line above and the facts below.
    batch.decision === "appended" ? null : element("p", { class: "why" }, batch.why),
    facts([
      ["Producer id", batch.producer_id < 0 ? undefined : batch.producer_id],
      ["Producer epoch", batch.producer_id < 0 ? undefined : batch.producer_epoch],
      ["Sequences", batch.producer_id < 0 ? undefined : rangeText(batch.base_sequence, batch.last_sequence)],
      ["Expected sequence", batch.expected_sequence ?? undefined],
      ["Received sequence", batch.expected_sequence == null ? undefined : batch.base_sequence],
      ["Records", batch.records < 0 ? undefined : batch.records],
      ["Error", batch.error ?? undefined],
      ["Before the reset", batch.producer_before_reset ? "the producer got its id before the last reset" : undefined],
    ]),
    state,
  );
  if (links.header !== undefined && batch.base_offset >= 0) part.append(headerPart(batch, links.header));
  if (links.producers !== undefined && batch.producer_id >= 0) showWindow(state, batch, statesOf);
  return part;
}

/** Return what the broker decided; on the page of a running broker with a link to the first record. */
function decidedPart(batch, links) {
  const text = decisionText(batch);
  if (links.header === undefined || batch.base_offset < 0) return text;
  return element("a", { href: addressOf("topics", batch.topic, batch.partition, batch.base_offset) }, text);
}

async function showWindow(place, batch, statesOf) {
  try {
    const known = (await statesOf(batch)).find(({ partition }) => partition === batch.partition);
    place.append(known === undefined ? element("p", {}, "The partition does not know this producer now.") : windowOf(known, batch));
  } catch (error) {
    place.append(element("p", { class: "problem", role: "alert" }, error.message));
  }
}

/** Return the cached batches of a producer now, with those that this batch is or repeats marked. */
export function windowOf(state, batch = null) {
  const isThis = (cached) => batch !== null && cached.base_sequence === batch.base_sequence && state.producer_epoch === batch.producer_epoch;
  return element(
    "figure",
    { class: "cached" },
    element("figcaption", {}, `Recognised batches now: epoch ${state.producer_epoch}, next sequence ${state.next_sequence}`),
    element(
      "ol",
      {},
      state.cached.map((cached) =>
        element(
          "li",
          { class: isThis(cached) ? "is-this" : "" },
          element("b", {}, rangeText(cached.base_sequence, cached.last_sequence)),
          element("span", {}, `offset ${cached.base_offset}`),
        ),
      ),
    ),
  );
}
