// What leads from a topic to other views: its verdict, its requests, and the groups that read it.

import { element, fill } from "./dom.js";
import { stateBadge } from "./group_view.js";
import { numberText, stateLink, sumOf, table } from "./live_view.js";
import { addressOf } from "./navigation.js";
import { groupTag, verdictTag } from "./verdict_parts.js";

/** Return the mark of the verdict on a topic with a link to it, and the link to its requests: `root` and `close()`. */
export function topicLinks(verdicts, name) {
  const place = element("span");
  let drawn = null;
  function show() {
    const summary = verdicts.summaries?.find(({ topic }) => topic === name);
    const text = JSON.stringify(summary ?? null);
    if (text === drawn) return;
    drawn = text;
    fill(place, summary === undefined ? null : element("a", { href: addressOf("verdict", name) }, "Verdict ", verdictTag(summary)));
  }
  show();
  verdicts.listeners.add(show);
  const root = element("span", { class: "links" }, place, element("a", { href: addressOf("timeline", `topic=${name}`) }, "Requests"));
  return { root, close: () => verdicts.listeners.delete(show) };
}

/** Return the part with the groups of a topic. summaries: the verdicts on groups, or null. */
export function topicGroupsPart(name, groups, summaries) {
  const known = new Map(summaries?.map((summary) => [summary.group, summary]));
  const heads = [
    ["Group", (group) => group.group_id],
    ["State", (group) => group.state],
    ["Members#", (group) => group.members.length],
    ["Lag in this topic#", (group) => lagIn(group, name)],
    "Verdict",
  ];
  const row = (group) => [
    stateLink("groups", group.group_id),
    stateBadge(group),
    group.members.length,
    numberText(lagIn(group, name)),
    known.has(group.group_id) ? groupTag(known.get(group.group_id)) : null,
  ];
  return [element("h2", {}, "Groups"), groups.length ? table("Groups of the topic", heads, groups, row) : element("p", { class: "note" }, "No group reads this topic.")];
}

/** Return whether a group has committed an offset in a topic, or a partition of it is assigned to a member. */
export function isOfTopic(group, name) {
  return group.offsets.some(({ topic }) => topic === name) || group.members.some(({ partitions }) => partitions?.[name]?.length);
}

function lagIn(group, name) {
  return sumOf(group.offsets.filter(({ topic }) => topic === name).map((each) => each.lag));
}
