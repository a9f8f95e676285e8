// The fault rules and topics of a report: what they were when it was written.

import { DEFAULTS } from "./declared.js";
import { element, emptyState, facts } from "./dom.js";
import { bytesText, countText } from "./format.js";
import { groupVerdictParts } from "./group_verdict.js";

// A topic can have thousands of partitions.
const PARTITIONS_SHOWN = 1000;

/** Return the view of the fault rules, with their hits, and for a rule without any why others did not match. */
export function ruleReportView(state) {
  const cards = [...state.rules.map((rule) => rulePart(rule, "rule")), ...state.files.map((rule) => rulePart(rule, "file rule"))];
  if (!cards.length) return plainView(emptyState("No fault rules", element("p", {}, "The broker had none when this report was written.")));
  return plainView(element("h1", {}, "Fault rules"), element("ol", { class: "findings" }, cards));
}

function rulePart(rule, kind) {
  const { id, name, enabled, hits, matched, remaining, near_misses: misses } = rule;
  const left = remaining === null ? "no limit" : `${remaining} left`;
  return element(
    "li",
    { class: `finding${hits ? "" : " is-harmless"}` },
    element("h3", {}, name === "" ? `${kind} ${id}` : name, element("small", {}, name === "" ? "" : ` ${kind} ${id}`)),
    element("p", {}, `${countText(hits, "hit")}, ${matched.toLocaleString("en")} matched, ${left}${enabled ? "" : ", disabled"}`),
    facts(conditionsOf(rule).map(([key, value]) => [key.replaceAll("_", " "), typeof value === "string" ? value : JSON.stringify(value)])),
    hits || !misses.length ? null : element("ul", { class: "near-misses" }, misses.map((miss) => element("li", {}, `${countText(miss.count, "request")} ${miss.message}`))),
  );
}

const COUNTS_OF_RULES = new Set(["id", "name", "enabled", "hits", "matched", "remaining", "last_hit_ms", "near_misses"]);

/** Return the fields of a rule that say what it does, without those that are not set and without defaults. */
function conditionsOf(rule) {
  return Object.entries(rule)
    .filter(([key]) => !COUNTS_OF_RULES.has(key))
    .map(([key, value]) => [key, key === "when" ? given(value, DEFAULTS.when) : given(value, {})])
    .filter(([, value]) => value !== null);
}

/** Return what is set in a value; null for nothing. */
function given(value, defaults) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const set = Object.entries(value).filter(([key, each]) => each !== null && each !== defaults[key]);
  return set.length ? Object.fromEntries(set) : null;
}

/** Return the view of the groups with the verdict on each. */
export function groupReportView(state) {
  const problems = Object.entries(state.unjudged_groups).map(([id, why]) => ({ id, parts: element("p", { class: "problem" }, why) }));
  const groups = [...state.groups.map((verdict) => ({ id: verdict.group, parts: groupVerdictParts(verdict) })), ...problems];
  if (!groups.length) return plainView(emptyState("No groups", element("p", {}, "The broker had none when this report was written.")));
  return plainView(
    element("h1", {}, "Groups"),
    groups.map(({ id, parts }) => element("section", { class: "section", "aria-label": id }, element("h2", {}, id), parts)),
  );
}

/** Return the view of the topics, one row a partition. */
export function topicReportView(state) {
  const rows = state.topics.flatMap((topic) => topic.partitions.map((partition) => partitionRow(topic, partition)));
  if (!rows.length) return plainView(emptyState("No topics", element("p", {}, "The broker had none when this report was written.")));
  const heads = ["Topic", "Partition", "Log start", "Log end", "High watermark", "Size", "Producers"];
  const more = rows.length - PARTITIONS_SHOWN;
  return plainView(
    element("h1", {}, "Topics"),
    element(
      "table",
      { class: "sheet-table", "aria-label": "Topics" },
      element("thead", {}, element("tr", {}, heads.map((head, at) => element("th", { scope: "col", class: at ? "number" : "" }, head)))),
      element("tbody", {}, rows.slice(0, PARTITIONS_SHOWN)),
    ),
    more > 0 ? element("p", { class: "meaning" }, `and ${countText(more, "more partition")}`) : null,
  );
}

function partitionRow(topic, partition) {
  const numbers = [partition.partition, partition.log_start_offset, partition.log_end_offset, partition.high_watermark];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, topic.name),
    numbers.map((number) => element("td", { class: "number" }, number === null ? "unknown" : number.toLocaleString("en"))),
    element("td", { class: "number" }, bytesText(partition.size_bytes)),
    element("td", { class: "number" }, partition.producers ?? "unknown"),
  );
}

function plainView(...parts) {
  return { root: element("div", { class: "sheet" }, parts), close() {} };
}
