// The lag of a group: the partitions that it has committed, and those that are only assigned to its members.

import { countText } from "./format.js";
import { numberText, sumOf } from "./live_view.js";

/** Return the partitions that are assigned to a member and have no committed offset. */
function uncommittedOf(group) {
  const committed = new Set(group.offsets.map(({ topic, partition }) => `${topic}/${partition}`));
  return placesOf(group).filter(({ topic, partition }) => !committed.has(`${topic}/${partition}`));
}

/** Return each assigned partition with its member. */
function placesOf(group) {
  return group.members.flatMap((member) =>
    Object.entries(member.partitions ?? {}).flatMap(([topic, numbers]) => numbers.map((partition) => ({ topic, partition, member }))),
  );
}

/** Return the sum of the lags of the committed offsets; null if one is unknown. */
export function totalLagOf(group) {
  return sumOf(group.offsets.map((each) => each.lag));
}

/** Return the total lag as a text, with the number of assigned partitions that have none because nothing is committed. */
export function totalLagText(group) {
  const total = numberText(totalLagOf(group));
  const without = uncommittedOf(group).length;
  return without ? `${total}, and ${countText(without, "partition")} without a committed offset` : total;
}

/**
 * Return a row for each partition of the lag of a group: its place, offsets and lag, null where nothing is committed, and
 * the member that has it. offset: the committed offset with its leader epoch and metadata.
 */
export function lagRows(group, lag) {
  const offsets = new Map(group.offsets.map((each) => [`${each.topic}/${each.partition}`, each]));
  const members = new Map(placesOf(group).map(({ topic, partition, member }) => [`${topic}/${partition}`, member]));
  return lag.partitions.map((each) => {
    const place = `${each.topic}/${each.partition}`;
    return { ...each, offset: offsets.get(place) ?? null, member: members.get(place) ?? null };
  });
}
