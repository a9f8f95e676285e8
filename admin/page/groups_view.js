// The view of the groups: a list, and one group by its id.

import { element, emptyState } from "./dom.js";
import { totalLagOf, totalLagText } from "./group_lag.js";
import { groupView, stateBadge } from "./group_view.js";
import { liveView, stateLink, table } from "./live_view.js";
import { nameFilter } from "./name_filter.js";
import { groupTag } from "./verdict_parts.js";
import { withVerdicts } from "./verdict_source.js";

const GROUPS_MAX = 10000;

/** Return the view of all groups, or of the one with an id. */
export function groupsView({ api, actions, journal, verdicts }, id = "") {
  return id === "" ? groupList(api, verdicts) : groupView(api, actions, journal, id);
}

function groupList(api, verdicts) {
  const filter = nameFilter("Groups", () => view.redraw());
  const view = liveView({
    title: "Groups",
    parts: ["groups"],
    head: element("div", { class: "state-tools" }, filter.root),
    read: () => api.list("/v1/groups?limit=1000", GROUPS_MAX),
    draw(groups) {
      if (!groups.length) return emptyState("No groups", element("p", {}, "A group appears when a consumer with a group.id joins it or commits an offset."));
      const known = new Map(verdicts.groups?.map((summary) => [summary.group, summary]));
      const heads = [
        ["Group", (group) => group.group_id],
        ["Type", (group) => group.type],
        ["State", (group) => group.state],
        ["Protocol", (group) => group.protocol],
        ["Members#", (group) => group.members.length],
        ["Total lag#", totalLagOf],
      ];
      const found = groups.filter((group) => filter.isShown(group.group_id));
      if (!found.length) return emptyState("No such group", element("p", {}, "Search for another name."));
      return table("Groups", heads, found, (group) => [
        [stateLink("groups", group.group_id), known.get(group.group_id)?.findings ? [" ", groupTag(known.get(group.group_id))] : null],
        group.type,
        stateBadge(group),
        group.protocol || "none",
        group.members.length,
        totalLagText(group),
      ]);
    },
  });
  return withVerdicts(view, verdicts, () => verdicts.groups);
}
