// The forms of topics: create and delete one, move the leader of a partition.

import { openForm } from "./form_dialog.js";

/** Ask for a new topic, and create it. onCreated: called after it. */
export function createTopic(actions, onCreated) {
  openForm({
    title: "Create topic",
    label: "Create",
    fields: [
      { name: "name", label: "Name", required: true },
      { name: "partitions", label: "Partitions", type: "number", min: 1, hint: "empty for num.partitions of the broker" },
    ],
    async perform(values, onError) {
      const body = { name: values.name.trim() };
      if (values.partitions !== "") body.partitions = Number(values.partitions);
      const result = await actions.perform(`Created ${body.name}`, "POST", "/v1/topics", body, { onError });
      if (result !== null) onCreated();
      return result;
    },
  });
}

/** Ask whether to delete a topic, and delete it. onDeleted: called after it. */
export function deleteTopic(actions, name, onDeleted) {
  openForm({
    title: `Delete ${name}?`,
    text: "Its records and the state of its producers are deleted too.",
    label: "Delete",
    kind: "danger",
    async perform(_, onError) {
      const result = await actions.perform(`Deleted ${name}`, "DELETE", `/v1/topics/${encodeURIComponent(name)}`, undefined, { onError });
      if (result !== null) onDeleted();
      return result;
    },
  });
}

/** Ask for the leader of a partition, and move it there. state: the partition. onMoved: called after it. */
export function moveLeader(state, actions, onMoved) {
  openForm({
    title: `Leader of ${state.topic}-${state.partition}`,
    label: "Move",
    fields: [
      { name: "node", label: "Node", type: "select", options: state.replicas.filter((id) => id !== state.leader).map((id) => [id, `node ${id}`]) },
      { name: "unclean", label: "also if it is not in the ISR: records may be lost", type: "checkbox" },
    ],
    async perform({ node, unclean }, onError) {
      const body = { topic: state.topic, partition: state.partition, node: Number(node), unclean };
      const result = await actions.perform(`Node ${node} leads ${state.topic}-${state.partition}`, "POST", "/v1/partitions/leader", body, { onError });
      onMoved();
      return result;
    },
  });
}
