// The view of the topics: a list, and one topic by its name.

import { button, element, emptyState } from "./dom.js";
import { bytesText, countText } from "./format.js";
import { filtersOf, showFilter } from "./list_state.js";
import { badge, liveView, numberText, stateLink, sumOf, table } from "./live_view.js";
import { nameFilter } from "./name_filter.js";
import { addressOf } from "./navigation.js";
import { createTopic, deleteTopic } from "./topic_forms.js";
import { topicView } from "./topic_view.js";
import { verdictTag } from "./verdict_parts.js";
import { withVerdicts } from "./verdict_source.js";

const TOPICS_MAX = 10000;

/** Return the view of all topics, or of one: of its records in a partition from an offset, if they are given. */
export function topicsView({ api, actions, verdicts }, name = "", ...place) {
  return name === "" ? topicList(api, actions, verdicts) : topicView({ api, actions, verdicts }, name, ...place);
}

function topicList(api, actions, verdicts) {
  const filter = nameFilter("Topics", () => view.redraw());
  const internal = element("input", { type: "checkbox", checked: filtersOf(location.hash).has("internal"), on: { change: showInternal } });
  const count = element("output", { class: "count" });
  const view = liveView({
    title: "Topics",
    parts: ["topics"],
    head: element(
      "div",
      { class: "state-tools" },
      filter.root,
      element("label", { class: "check" }, internal, "internal"),
      count,
      element("span", { class: "spacer" }),
      button("Create topic", () => createTopic(actions, () => view.refresh()), { kind: "primary" }),
    ),
    read: () => api.list("/v1/topics?limit=1000", TOPICS_MAX),
    draw(topics) {
      const isShown = (topic) => (internal.checked || !topic.internal) && filter.isShown(topic.name);
      const found = topics.filter(isShown);
      count.textContent = `${found.length.toLocaleString("en")} of ${countText(topics.length, "topic")}`;
      if (!found.length) return nothing(topics);
      const known = new Map(verdicts.summaries?.map((summary) => [summary.topic, summary]));
      const heads = [
        ["Name", ({ name }) => name],
        ["Verdict", ({ name }) => known.get(name)?.findings ?? null],
        ["Partitions#", ({ partitions }) => partitions.length],
        ["Records#", recordsOf],
        ["Size#", sizeOf],
        "",
      ];
      return table("Topics", heads, found, (topic) => rowOf(topic, known.get(topic.name), actions, view));
    },
  });
  function showInternal() {
    showFilter("internal", internal.checked ? "true" : "");
    view.redraw();
  }
  return withVerdicts(view, verdicts, () => verdicts.summaries);
}

function rowOf(topic, summary, actions, view) {
  return [
    [stateLink("topics", topic.name), topic.internal ? badge("internal") : null],
    summary === undefined ? null : element("a", { href: addressOf("verdict", topic.name), "data-key": `verdict/${topic.name}` }, verdictTag(summary)),
    topic.partitions.length,
    numberText(recordsOf(topic)),
    bytesText(sizeOf(topic)),
    button("Delete", () => deleteTopic(actions, topic.name, () => view.refresh()), {
      kind: "quiet",
      "aria-label": `Delete ${topic.name}`,
      "data-key": `delete/${topic.name}`,
    }),
  ];
}

/** Return the number of offsets in the logs of a topic; markers and what compaction removed are among them. */
function recordsOf(topic) {
  return sumOf(topic.partitions.map((each) => (each.log_end_offset === null ? null : each.log_end_offset - each.log_start_offset)));
}

function sizeOf(topic) {
  return sumOf(topic.partitions.map((each) => each.size_bytes));
}

function nothing(topics) {
  if (topics.some((topic) => !topic.internal)) return emptyState("No such topic", element("p", {}, "Search for another name, or show the internal topics."));
  return emptyState("No topics", element("p", {}, "Create one here, or let a client create it: a producer does so with its first record."));
}
