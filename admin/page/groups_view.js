// The view of the groups: a list, and one group with its members and offsets.

import { element, emptyState, facts } from "./dom.js";
import { countText } from "./format.js";
import { groupVerdictPart } from "./group_verdict.js";
import { badge, liveView, numberText, stateLink, sumOf, table } from "./live_view.js";
import { nameFilter } from "./name_filter.js";

const GROUPS_MAX = 10000;
const TONES = { Stable: "ok", Empty: "ok", Dead: "cut" };

/** Return the view of all groups, or of the one with an id. */
export function groupsView(api, journal, id = "") {
  return id === "" ? groupList(api) : groupView(api, journal, id);
}

function groupList(api) {
  const filter = nameFilter("Groups", () => view.redraw());
  const view = liveView({
    title: "Groups",
    parts: ["groups"],
    head: element("div", { class: "state-tools" }, filter.root),
    read: () => api.list("/v1/groups?limit=1000", GROUPS_MAX),
    draw(groups) {
      if (!groups.length) return emptyState("No groups", element("p", {}, "A group appears when a consumer with a group.id joins it or commits an offset."));
      const heads = [
        ["Group", (group) => group.group_id],
        ["Type", (group) => group.type],
        ["State", (group) => group.state],
        ["Protocol", (group) => group.protocol],
        ["Members#", (group) => group.members.length],
        ["Total lag#", lagOf],
      ];
      const found = groups.filter((group) => filter.isShown(group.group_id));
      if (!found.length) return emptyState("No such group", element("p", {}, "Search for another name."));
      return table("Groups", heads, found, (group) => [
        stateLink("groups", group.group_id),
        group.type,
        badge(group.state, TONES[group.state] ?? "waiting"),
        group.protocol || "none",
        group.members.length,
        numberText(lagOf(group)),
      ]);
    },
  });
  return view;
}

function groupView(api, journal, id) {
  const verdict = groupVerdictPart(api, journal, id);
  const view = liveView({
    title: element("span", {}, element("a", { href: "#groups" }, "Groups"), ` / ${id}`),
    parts: ["groups", "topics"],
    foot: verdict.root,
    read: () => api.get(`/v1/groups/${encodeURIComponent(id)}`),
    draw: (group) => [
      facts([
        ["Type", group.type],
        ["State", badge(group.state, TONES[group.state] ?? "waiting")],
        ["Protocol", group.protocol || null],
        ["Total lag", numberText(lagOf(group))],
      ]),
      element("h2", {}, countText(group.members.length, "member")),
      group.members.length ? membersTable(group) : element("p", { class: "note" }, "Committed offsets stay while the group is empty."),
      element("h2", {}, "Committed offsets"),
      group.offsets.length ? offsetsTable(group) : element("p", { class: "note" }, "The group has committed none."),
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

function lagOf(group) {
  return sumOf(group.offsets.map((each) => each.lag));
}

function membersTable(group) {
  const hasEpochs = group.members.some((member) => member.epoch !== null);
  const hasTarget = group.members.some((member) => member.target !== null);
  const heads = ["Member", "Client", "Host", "Instance", ...(hasEpochs ? ["Epoch#"] : []), "Assignment", ...(hasTarget ? ["Target"] : [])];
  return table("Members", heads, group.members, (member) => [
    element("span", { class: "mono" }, member.member_id),
    member.client_id,
    member.client_host,
    member.group_instance_id ?? "none",
    ...(hasEpochs ? [member.epoch] : []),
    assignmentText(member.partitions, member.assignment),
    ...(hasTarget ? [assignmentText(member.target, null)] : []),
  ]);
}

/** Return the partitions by topic; of an assignment that is not one of consumers the bytes in base64. */
function assignmentText(partitions, assignment) {
  if (partitions === null) return assignment === null ? "none" : element("span", { class: "mono" }, assignment.base64 || "none");
  const topics = Object.entries(partitions).filter(([, numbers]) => numbers.length);
  return topics.length ? topics.map(([topic, numbers]) => `${topic}: ${numbers.join(", ")}`).join("; ") : "none";
}

function offsetsTable(group) {
  const heads = ["Topic", "Partition#", "Offset#", "Lag#", "Leader epoch#", "Metadata"];
  return table("Committed offsets", heads, group.offsets, (each) => [
    stateLink("topics", each.topic),
    each.partition,
    each.offset,
    numberText(each.lag),
    each.leader_epoch < 0 ? "none" : each.leader_epoch,
    each.metadata || "none",
  ]);
}
