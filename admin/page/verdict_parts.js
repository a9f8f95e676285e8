// A verdict in words and numbers: the mark, the sentence, the counts and the findings.

import { element } from "./dom.js";
import { isHarmless, meaningOf, placeText, recordOf, summaryOf } from "./findings.js";
import { countText } from "./format.js";
import { addressOf } from "./navigation.js";

// The counts of a verdict in the order of their rows, and what each means.
const BATCH_COUNTS = [
  ["appended_once", "Stored once", "in the log, without a copy"],
  ["appended_twice", "Stored twice", "in the log, with a copy of its records"],
  ["duplicates_recognised", "Repeated and recognised", "sent again, and not stored again"],
  ["refused", "Refused", "rejected by the log, each time"],
  ["acknowledged_lost", "Acknowledged and lost", "the producer got a success, and the log does not have it"],
  ["stored_unacknowledged", "Stored without a success", "in the log, and the producer got no response or an error"],
  ["reordered", "Out of order", "behind a batch that was sent later"],
];
const RECORD_COUNTS = [
  ["in_log", "In the log", "what consumers read"],
  ["distinct", "Distinct", "without copies"],
  ["duplicates", "Copies", "of other records"],
  ["deleted", "Deleted", "by retention or DeleteRecords"],
];
const BAD_COUNTS = new Set(["appended_twice", "acknowledged_lost", "stored_unacknowledged", "reordered", "duplicates"]);
const REQUESTS_SHOWN = 6;

/** Return a verdict in short in one or two words, with a mark for its colour. */
export function verdictTag(summary) {
  if (summary.error !== null) return element("span", { class: "tag", title: summary.error }, "no verdict");
  if (summary.findings) return element("span", { class: "tag is-found" }, countText(summary.findings, "finding"));
  return isUnused(summary) ? element("span", { class: "tag" }, "nothing sent") : element("span", { class: "tag is-clean" }, "clean");
}

/** Return a verdict on a group in short, as verdictTag does. */
export function groupTag(summary) {
  if (summary.error !== null || summary.findings) return verdictTag(summary);
  return summary.delivered ? element("span", { class: "tag is-clean" }, "clean") : element("span", { class: "tag" }, "nothing delivered");
}

/** Return the mark of the link to the verdict: the number of findings in all topics and groups; null without one. */
export function badgeOf({ summaries, groups }) {
  const count = [...(summaries ?? []), ...(groups ?? [])].reduce((sum, { findings }) => sum + findings, 0);
  return count ? element("span", { class: "tag is-found", title: countText(count, "finding") }, count.toLocaleString("en")) : null;
}

/** Return the verdict in a sentence, with its mark. */
export function verdictSummary(verdict) {
  const summary = summaryOf(verdict);
  let words = "Every acknowledged batch is in the log, none is there twice, and none is out of order.";
  if (summary.findings) words = "Not every batch is in the log exactly once and in order.";
  else if (isUnused(verdict)) words = "Nothing was sent to this topic.";
  if (verdict.forgotten) {
    const batches = countText(verdict.forgotten, "unacknowledged batch", "unacknowledged batches");
    words += ` Copies of ${batches}, which were too many to keep, would not be found.`;
  }
  return element("p", { class: "summary" }, verdictTag(summary), element("span", {}, words));
}

/** Return the counts of batches that are not 0, in one line. */
export function batchCountsText(verdict) {
  const counted = BATCH_COUNTS.filter(([key]) => verdict.batches[key]);
  return counted.map(([key, label]) => `${verdict.batches[key].toLocaleString("en")} ${label.toLowerCase()}`).join(", ") || "none";
}

/** Return the tables of all counts. Each count has its row, also if it is 0: nothing moves when one changes. */
export function countTables(verdict) {
  return [
    element("h2", {}, "Batches"),
    countsTable("Batches", BATCH_COUNTS, verdict.batches),
    element("h2", {}, "Records"),
    countsTable("Records", RECORD_COUNTS, verdict.records),
  ];
}

function countsTable(name, rows, counts) {
  const row = ([key, label, meaning]) =>
    element(
      "tr",
      { class: counts[key] === 0 ? "is-zero" : BAD_COUNTS.has(key) ? "is-bad" : "" },
      element("td", { class: "number" }, counts[key].toLocaleString("en")),
      element("th", { scope: "row" }, label),
      element("td", { class: "meaning" }, meaning),
    );
  return element("table", { class: "count-table", "aria-label": name }, element("tbody", {}, rows.map(row)));
}

/** Return a finding of a topic: what it means, why it is one, where it is, and links to its records and requests. */
export function findingPart(finding, topic) {
  const { title, meaning } = meaningOf(finding);
  const { batches, records, requests } = finding;
  const counts = [batches > 1 ? countText(batches, "batch", "batches") : "", records ? countText(records, "record") : ""].filter(Boolean);
  return element(
    "li",
    { class: `finding${isHarmless(finding) ? " is-harmless" : ""}` },
    element("h3", {}, title, counts.length ? element("small", {}, ` ${counts.join(", ")}`) : null),
    element("p", { class: "meaning" }, meaning),
    element("p", { class: "why" }, finding.why),
    element("p", { class: "mono meaning" }, placeText(finding)),
    findingLinks(requests, { topic, partition: finding.partition, offset: recordOf(finding) }),
  );
}

/** Return links to the requests of a finding in the timeline, and to its first record. place: topic, partition and offset. */
export function findingLinks(ids, { topic, partition, offset }) {
  const more = ids.length - REQUESTS_SHOWN;
  return element(
    "p",
    { class: "links" },
    ids.slice(0, REQUESTS_SHOWN).map((id) => element("a", { href: addressOf("timeline", id) }, `request ${id}`)),
    more > 0 ? element("span", { class: "meaning" }, `and ${more} more`) : null,
    offset === undefined ? null : element("a", { href: addressOf("topics", topic, partition, offset) }, `record ${offset}`),
  );
}

function isUnused(verdict) {
  return Object.values(verdict.batches).every((count) => count === 0) && verdict.records.in_log + verdict.records.deleted === 0;
}
