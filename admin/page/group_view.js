// The view of one group: its members, the lag of each partition, and the verdict.

import { button, element, facts } from "./dom.js";
import { countText } from "./format.js";
import { deleteGroup, deleteOffsets, evictMember, groupPath, resetOffsets } from "./group_forms.js";
import { lagRows, totalLagText } from "./group_lag.js";
import { groupVerdictPart } from "./group_verdict.js";
import { badge, liveView, numberText, stateLink, table } from "./live_view.js";
import { addressOf } from "./navigation.js";

const TONES = { Stable: "ok", Empty: "ok", Dead: "cut" };
// What Kafka's tool shows where nothing is committed.
const NO_OFFSET = "-";

/** Return the state of a group in its colour. */
export function stateBadge(group) {
  return badge(group.state, TONES[group.state] ?? "waiting");
}

/** Return the view of a group. */
export function groupView(api, actions, journal, id) {
  const verdict = groupVerdictPart(api, journal, id);
  const refresh = () => view.refresh();
  const view = liveView({
    title: element("span", {}, element("a", { href: "#groups" }, "Groups"), ` / ${id}`),
    parts: ["groups", "topics"],
    head: element(
      "div",
      { class: "state-tools" },
      button("Reset offsets", () => resetOffsets(actions, id, refresh)),
      button("Delete offsets", () => deleteOffsets(actions, id, refresh)),
      element("span", { class: "spacer" }),
      button("Delete group", () => deleteGroup(actions, id, () => (location.hash = "#groups"))),
    ),
    foot: verdict.root,
    async read() {
      const [group, lag] = await Promise.all([api.get(groupPath(id)), api.get(`${groupPath(id)}/lag`)]);
      return { group, lag };
    },
    draw: ({ group, lag }) => [
      facts([
        ["Type", group.type],
        ["State", stateBadge(group)],
        ["Protocol", group.protocol || null],
        ["Total lag", totalLagText(group)],
      ]),
      element("h2", {}, countText(group.members.length, "member")),
      group.topology ? subtopologiesTable(group.topology) : null,
      group.members.length
        ? membersTable(group, (member) => evictMember(actions, id, member, refresh))
        : element("p", { class: "note" }, "Committed offsets stay while the group is empty."),
      element("h2", {}, "Committed offsets"),
      lag.partitions.length ? lagTable(lagRows(group, lag)) : element("p", { class: "note" }, "The group has committed none, and no partition is assigned."),
    ],
  });
  return {
    ...view,
    changed(part) {
      view.changed(part);
      verdict.changed(part);
    },
    close() {
      view.close();
      verdict.close();
    },
  };
}

function membersTable(group, evict) {
  const hasEpochs = group.members.some((member) => member.epoch !== null);
  const hasTarget = group.members.some((member) => member.target !== null);
  const hasTasks = group.members.some((member) => member.tasks !== null);
  const heads = [
    "Member",
    "Client",
    "Host",
    "Instance",
    ...(hasEpochs ? ["Epoch#"] : []),
    ...(hasTasks ? ["Process", "Tasks", "Target tasks"] : []),
    "Assignment",
    ...(hasTarget ? ["Target"] : []),
    "",
  ];
  return table("Members", heads, group.members, (member) => [
    element("span", { class: "mono" }, member.member_id),
    element("a", { href: addressOf("timeline", `client=${member.client_id}`), "data-key": `client/${member.member_id}` }, member.client_id),
    member.client_host,
    member.group_instance_id ?? "none",
    ...(hasEpochs ? [member.epoch] : []),
    ...(hasTasks ? [element("span", { class: "mono" }, member.process_id), tasksText(member.tasks), tasksText(member.target_tasks)] : []),
    assignmentText(member.partitions, member.assignment),
    ...(hasTarget ? [assignmentText(member.target, null)] : []),
    button("Evict", () => evict(member), { kind: "quiet", "aria-label": `Evict ${member.member_id}`, "data-key": `evict/${member.member_id}` }),
  ]);
}

/** Return the partitions by topic; of an assignment that is not one of consumers the bytes in base64. */
function assignmentText(partitions, assignment) {
  if (partitions === null) return assignment === null ? "none" : element("span", { class: "mono" }, assignment.base64 || "none");
  const topics = Object.entries(partitions).filter(([, numbers]) => numbers.length);
  return topics.length ? topics.map(([topic, numbers]) => `${topic}: ${numbers.join(", ")}`).join("; ") : "none";
}

/** Return the tasks of a member of a streams group, as Kafka Streams names them; the standby and warm-up tasks last. */
function tasksText(tasks) {
  const kinds = Object.entries(tasks).map(([kind, bySubtopology]) => {
    const names = Object.entries(bySubtopology).flatMap(([id, numbers]) => numbers.map((number) => `${id}_${number}`));
    return names.length ? `${kind === "active" ? "" : `${kind} `}${names.join(", ")}` : null;
  });
  return kinds.filter((text) => text !== null).join("; ") || "none";
}

function subtopologiesTable({ subtopologies }) {
  const heads = ["Subtopology", "Sources", "Repartition sources", "Repartition sinks", "Changelogs"];
  return table("Subtopologies", heads, subtopologies, (each) => [
    each.subtopology_id,
    ...[each.source_topics, each.repartition_source_topics, each.repartition_sink_topics, each.changelog_topics].map((names) => names.join(", ") || "none"),
  ]);
}

function lagTable(rows) {
  const heads = ["Topic", "Partition#", "Offset#", "Lag#", "Log end#", "Member", "Leader epoch#", "Metadata"];
  return table("Committed offsets", heads, rows, ({ topic, partition, committed, lag, log_end_offset: end, member, offset }) => [
    stateLink("topics", topic),
    partition,
    committed === null ? NO_OFFSET : element("a", { href: addressOf("topics", topic, partition, committed), "data-key": `offset/${topic}/${partition}` }, committed),
    committed === null ? NO_OFFSET : numberText(lag),
    numberText(end),
    member === null ? "none" : element("span", { title: member.member_id }, member.client_id),
    offset === null || offset.leader_epoch < 0 ? "none" : offset.leader_epoch,
    offset?.metadata || "none",
  ]);
}
