// Changes of a producer's state in the partitions: expire it, fence it, forget it, forget its recognised batches.

import { copyAction } from "./copy_panel.js";
import { button, element, fill } from "./dom.js";

const CHANGES = [
  ["expire", "Expire this producer", "As after producer.id.expiration.ms."],
  ["bump_epoch", "Fence this producer", "Its next batch gets INVALID_PRODUCER_EPOCH."],
  ["forget", "Forget this producer", "Its state is deleted; its next batch is that of a new producer."],
  ["evict_cache", "Forget its recognised batches", "A repeated batch gets OUT_OF_ORDER_SEQUENCE_NUMBER."],
];

/** Return the panel: `root` and `load(selection)`, which reads the producers of the chosen topic and partition. */
export function producerPanel({ api, actions }) {
  const choice = element("select", { "aria-label": "Producer" });
  const nothing = element("p", { class: "nothing" }, "No idempotent producer has written to the chosen topic yet.");
  let known = [];

  async function load({ match }) {
    const query = match.topic === undefined ? "" : `?topic=${encodeURIComponent(match.topic)}`;
    const states = await api.list(`/v1/producers${query}`);
    known = states.filter(({ partition }) => match.partition === undefined || partition === match.partition);
    const chosen = choice.value;
    fill(choice, known.map((state) => element("option", { value: keyOf(state) }, labelOf(state))));
    if (known.some((state) => keyOf(state) === chosen)) choice.value = chosen;
    choice.hidden = !known.length;
    nothing.hidden = Boolean(known.length);
    for (const each of root.querySelectorAll("button")) each.disabled = !known.length;
  }

  function changing(change) {
    const { producer_id: id, topic, partition } = known.find((state) => keyOf(state) === choice.value) ?? { producer_id: -1 };
    return { method: "POST", path: `/v1/producers/${change}`, body: { producer_id: id, topic, partition } };
  }

  const root = element(
    "section",
    { "aria-label": "Producers" },
    element("h3", {}, "Producers"),
    choice,
    nothing,
    element(
      "ul",
      {},
      CHANGES.map(([change, label, effect]) => {
        const describe = () => changing(change);
        const perform = () => actions.perform(label, describe().method, describe().path, describe().body);
        return element(
          "li",
          { class: "recipe" },
          element("span", { class: "group" }, button(label, perform, { kind: "arm" }), copyAction(label, describe, actions)),
          element("p", {}, effect),
        );
      }),
    ),
  );
  return { root, load };
}

function keyOf({ topic, partition, producer_id: id }) {
  return `${topic}/${partition}/${id}`;
}

function labelOf({ topic, partition, producer_id: id, producer_epoch: epoch }) {
  return `producer ${id} epoch ${epoch}, ${topic}-${partition}`;
}
