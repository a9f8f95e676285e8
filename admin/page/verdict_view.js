// The view of the verdict: whether each batch of a topic is in the log exactly once, and a finding for each that is not.

import { button, element, emptyState, fill, whenReleased } from "./dom.js";
import { kindsText } from "./findings.js";
import { countText } from "./format.js";
import { addressOf } from "./navigation.js";
import { Refresher } from "./refresher.js";
import { batchCountsText, countTables, findingPart, groupTag, verdictSummary, verdictTag } from "./verdict_parts.js";

// A verdict reads whole logs.
const REFRESH_MS = 2000;
const FINDINGS_AT_ONCE = 50;
const TOPICS_AT_ONCE = 500;
// What is named after the kind of an event id and a colon.
const NAMED_PARTS = { header: "Header name", json: "Path, such as order.id" };

/**
 * Return the view of all topics, or of one. source: Verdicts, or those of a report. topic, eventId: from the address; an
 * empty event id is none.
 */
export function verdictView(journal, source, topic = "", eventId = "") {
  return topic === "" ? topicsPart(source) : topicPart(journal, source, topic, eventId);
}

function topicsPart(source) {
  const place = element("div", { class: "stack" });
  let topicsShown = TOPICS_AT_ONCE;
  function draw() {
    const { summaries, groups, error } = source;
    if (summaries === null && error === null) return;
    redraw(place, { summaries, groups, error, topicsShown }, () => [
      error === null ? null : problem(error),
      topicsParts(summaries ?? [], topicsShown, showMore),
      groups?.length ? groupsPart(groups) : null,
    ]);
  }
  function showMore() {
    topicsShown += TOPICS_AT_ONCE;
    draw();
  }
  source.listeners.add(draw);
  source.ask();
  draw();
  const head = element("div", {}, element("h1", {}, "Verdict"), element("p", { class: "meaning" }, "Is each batch of a topic in the log exactly once?"));
  return {
    root: element("div", { class: "sheet" }, head, place),
    close: () => source.listeners.delete(draw),
  };
}

function topicsParts(summaries, shown, showMore) {
  if (!summaries.length) {
    return [emptyState("No topics", element("p", {}, "Send records to a topic. Its verdict counts the batches that were lost, stored twice or reordered."))];
  }
  const more = summaries.length - shown;
  const heads = ["Topic", "Verdict", "Batches", "Records"];
  return [
    worstPart(summaries),
    element(
      "table",
      { class: "sheet-table", "aria-label": "Topics" },
      element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col", class: head === "Records" ? "number" : "" }, head)))),
      element("tbody", {}, summaries.slice(0, shown).map(topicRow)),
    ),
    more > 0 ? element("p", {}, button(`Show ${Math.min(more, TOPICS_AT_ONCE)} of ${more} more`, showMore)) : null,
  ];
}

/** Return all findings in one sentence. */
function worstPart(summaries) {
  const found = summaries.filter(({ findings }) => findings);
  const unjudged = summaries.filter(({ error }) => error !== null);
  const without = unjudged.length ? ` ${countText(unjudged.length, "topic")} without a verdict.` : "";
  const words = found.length
    ? `${found.length.toLocaleString("en")} of ${countText(summaries.length, "topic")} with findings: ${kindsText(found)}.`
    : `No finding in ${countText(summaries.length - unjudged.length, "topic")}.`;
  const findings = found.reduce((sum, each) => sum + each.findings, 0);
  const tag = findings ? ["is-found", countText(findings, "finding")] : ["is-clean", "no finding"];
  return element("p", { class: "summary" }, element("span", { class: `tag ${tag[0]}` }, tag[1]), element("span", {}, words + without));
}

function topicRow(summary) {
  const { topic, error, batches, records } = summary;
  const link = element("th", { scope: "row" }, element("a", { href: addressOf("verdict", topic) }, topic));
  if (error !== null) return element("tr", {}, link, element("td", { colspan: 3 }, error));
  return element(
    "tr",
    {},
    link,
    element("td", {}, verdictTag(summary)),
    element("td", {}, summary.findings ? element("strong", {}, kindsText([summary])) : batchCountsText({ batches })),
    element("td", { class: "number" }, records.in_log.toLocaleString("en")),
  );
}

/** Return the verdicts on groups, those with findings first. */
function groupsPart(groups) {
  const shown = groups.slice(0, TOPICS_AT_ONCE);
  const row = (summary) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("a", { href: addressOf("groups", summary.group) }, summary.group)),
      element("td", {}, groupTag(summary)),
      element("td", {}, summary.error ?? element("strong", {}, kindsText([summary]) || "none")),
      element("td", { class: "number" }, summary.delivered.toLocaleString("en")),
    );
  const heads = ["Group", "Verdict", "Findings", "Delivered"];
  return [
    element("h2", {}, "Groups"),
    element(
      "table",
      { class: "sheet-table", "aria-label": "Groups" },
      element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col", class: head === "Delivered" ? "number" : "" }, head)))),
      element("tbody", {}, shown.map(row)),
    ),
    groups.length > shown.length ? element("p", { class: "note" }, `The first ${shown.length} of ${groups.length.toLocaleString("en")} are shown.`) : null,
  ];
}

async function verdictOrError(source, topic, eventId) {
  try {
    return { verdict: await source.read(topic, eventId), error: null };
  } catch (error) {
    return { verdict: null, error: error.message };
  }
}

function topicPart(journal, source, topic, eventId) {
  const place = element("div", { class: "stack" });
  let chosen = eventId;
  let findingsShown = FINDINGS_AT_ONCE;
  let answer = null;
  async function read() {
    const asked = chosen;
    const found = await verdictOrError(source, topic, asked);
    // Another event id was chosen meanwhile.
    if (asked !== chosen) return;
    answer = found;
    draw();
  }
  function draw() {
    if (answer === null) return;
    const { verdict, error } = answer;
    const parts = () => (verdict === null ? [problem(error)] : verdictParts(verdict));
    redraw(place, { verdict, error, findingsShown }, parts);
  }
  function verdictParts(verdict) {
    const { findings } = verdict;
    const more = findings.length - findingsShown;
    const leftOut = verdict.findings_left_out;
    return [
      verdictSummary(verdict),
      findings.length ? element("h2", {}, "Findings") : null,
      findings.length ? element("ol", { class: "findings" }, findings.slice(0, findingsShown).map((each) => findingPart(each, topic))) : null,
      more > 0 ? element("p", {}, button(`Show ${Math.min(more, FINDINGS_AT_ONCE)} of ${more} more`, showMore)) : null,
      leftOut ? element("p", { class: "meaning" }, `The broker left out ${countText(leftOut, "more finding")}.`) : null,
      countTables(verdict),
    ];
  }
  function showMore() {
    findingsShown += FINDINGS_AT_ONCE;
    draw();
  }
  function choose(next) {
    chosen = next;
    history.replaceState(null, "", next === "" ? addressOf("verdict", topic) : addressOf("verdict", topic, next));
    view.refresh();
  }
  const head = element(
    "div",
    { class: "sheet-head" },
    element("div", {}, element("a", { href: "#verdict" }, "All topics"), element("h1", {}, topic), element("p", { class: "links" }, element("a", { href: addressOf("topics", topic) }, "Topic"), element("a", { href: addressOf("timeline", `topic=${topic}`) }, "Requests"))),
    source.hasEventIds ? eventIdChoice(chosen, choose) : null,
  );
  const view = refreshed(journal, read, element("div", { class: "sheet" }, head, place), place);
  return view;
}

/** Return an error as a part of a view. */
export function problem(message) {
  return element("p", { class: "problem", role: "alert" }, message);
}

/** Return the choice of what makes two records the same event. onChoose: called with an event id, "" for none. */
function eventIdChoice(eventId, onChoose) {
  const at = eventId.indexOf(":");
  const part = element("input", { name: "part", autocomplete: "off" });
  part.value = at < 0 ? "" : eventId.slice(at + 1);
  const option = (value) => element("option", { value }, `event id: ${value || "none"}`);
  const kind = element("select", { name: "event-id", "aria-label": "Event id" }, ["", "value", "key", ...Object.keys(NAMED_PARTS)].map(option));
  kind.value = at < 0 ? eventId : eventId.slice(0, at);
  function describePart() {
    const name = NAMED_PARTS[kind.value];
    part.hidden = name === undefined;
    part.placeholder = name ?? "";
    part.setAttribute("aria-label", name ?? "");
  }
  function changed() {
    if (part.hidden) onChoose(kind.value);
    else if (part.value === "") part.focus();
    else onChoose(`${kind.value}:${part.value}`);
  }
  kind.addEventListener("change", () => {
    part.value = "";
    describePart();
    changed();
  });
  part.addEventListener("change", changed);
  describePart();
  const meaning = "Records with the same event id are one event. Copies of any producer are found by it.";
  return element("form", { class: "filter", title: meaning, on: { submit: (event) => event.preventDefault() } }, kind, part);
}

/** Replace what a place shows if the data is other than before. A link that had the focus has it again. */
export function redraw(place, data, parts) {
  const text = JSON.stringify(data);
  if (place.drawn === text) return;
  place.drawn = text;
  whenReleased(place, () => {
    const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    fill(place, ...parts());
    if (focused !== null) [...place.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
  });
}

/** Return a view that reads again after new requests. place: where an error is shown. */
export function refreshed(journal, read, root, place) {
  const refresher = new Refresher(read, REFRESH_MS, (error) => redraw(place, error.message, () => [problem(error.message)]));
  const ask = () => refresher.ask();
  journal.listeners.add(ask);
  refresher.ask();
  return {
    root,
    refresh: () => refresher.now(),
    changed: (part) => part === "topics" && refresher.ask(),
    close() {
      journal.listeners.delete(ask);
      refresher.stop();
    },
  };
}
