// The forms of groups: reset and delete committed offsets, delete a group, evict a member.

import { openForm } from "./form_dialog.js";
import { timeOf, wholeNumberOf } from "./time_text.js";

// Name in the API, and in the form. The first two are values of `to`.
const TARGETS = [
  ["earliest", "the log start"],
  ["latest", "the end"],
  ["offset", "an offset"],
  ["time_ms", "a time"],
  ["shift_by", "so many further, or back"],
];
const VALUE_HINT = "an offset; a time as 2026-11-29 18:00 in UTC, or in ms; or a number, negative to go back";

/** Return the path of a group in the API. */
export function groupPath(id) {
  return `/v1/groups/${encodeURIComponent(id)}`;
}

/** Ask for new offsets of a group, and reset them. onDone: called after it. */
export function resetOffsets(actions, id, onDone) {
  openForm({
    title: `Reset the offsets of ${id}`,
    text: "The rules are those of kafka-consumer-groups.sh: a group with members is refused.",
    label: "Reset",
    fields: [
      { name: "topic", label: "Topic", hint: "empty for all partitions with a committed offset" },
      { name: "partition", label: "Partition", type: "number", min: 0, hint: "empty for all of the topic" },
      { name: "target", label: "To", type: "select", options: TARGETS },
      { name: "value", label: "Offset, time or number", hint: VALUE_HINT },
    ],
    async perform(values, onError) {
      const body = resetBody(values);
      if (body === null) {
        onError({ field: "value", message: `${values.value || "Nothing"} is no ${values.target === "time_ms" ? "time" : "number"}; ${VALUE_HINT}` });
        return null;
      }
      const onRefused = (error) => onError({ ...error, field: error.field in body && !(error.field in values) ? "value" : error.field });
      return done(await actions.perform(`Reset offsets of ${id}`, "POST", `${groupPath(id)}/offsets/reset`, body, { onError: onRefused }), onDone);
    },
  });
}

/** Return the body of a reset; null if its value is no number or time. */
export function resetBody({ topic, partition, target, value }) {
  const body = {};
  if (topic !== "") body.topic = topic;
  if (partition !== "") body.partition = Number(partition);
  if (target === "earliest" || target === "latest") return { ...body, to: target };
  const number = target === "time_ms" ? timeOf(value) : wholeNumberOf(value);
  return number === null ? null : { ...body, [target]: number };
}

/** Ask which committed offsets to delete, and delete them. onDone: called after it. */
export function deleteOffsets(actions, id, onDone) {
  openForm({
    title: `Delete offsets of ${id}`,
    text: "Without an offset, the next consumer of a partition begins by auto.offset.reset.",
    label: "Delete",
    kind: "danger",
    fields: [
      { name: "topic", label: "Topic", hint: "empty for all" },
      { name: "partition", label: "Partition", type: "number", min: 0, hint: "empty for all of the topic" },
      { name: "force", label: "also while members are subscribed to the topic, which Kafka refuses", type: "checkbox" },
    ],
    async perform({ topic, partition, force }, onError) {
      const given = Object.entries({ topic, partition, force: force ? "true" : "" }).filter(([, value]) => value !== "");
      const query = given.length ? `?${new URLSearchParams(given)}` : "";
      return done(await actions.perform(`Deleted offsets of ${id}`, "DELETE", `${groupPath(id)}/offsets${query}`, undefined, { onError }), onDone);
    },
  });
}

/** Ask whether to delete a group, and delete it. onDone: called after it. */
export function deleteGroup(actions, id, onDone) {
  openForm({
    title: `Delete ${id}?`,
    text: "Its committed offsets are deleted too. A group with members is refused.",
    label: "Delete",
    kind: "danger",
    perform: async (_, onError) => done(await actions.perform(`Deleted ${id}`, "DELETE", groupPath(id), undefined, { onError }), onDone),
  });
}

/** Ask whether to evict a member, and evict it. onDone: called after it. */
export function evictMember(actions, id, member, onDone) {
  openForm({
    title: `Evict ${member.member_id}?`,
    text: "Its client gets UNKNOWN_MEMBER_ID with its next heartbeat, and joins again.",
    label: "Evict",
    kind: "danger",
    async perform(_, onError) {
      const path = `${groupPath(id)}/members/${encodeURIComponent(member.member_id)}`;
      return done(await actions.perform(`Evicted ${member.member_id}`, "DELETE", path, undefined, { onError }), onDone);
    },
  });
}

function done(result, onDone) {
  if (result !== null) onDone();
  return result;
}
