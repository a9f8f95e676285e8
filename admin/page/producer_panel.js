// Changes of a producer's state in a partition.

import { actionButton, recipeItem } from "./action_button.js";
import { element, fill } from "./dom.js";

// A choice of more would be none.
const PRODUCERS_MAX = 1000;
const CHANGES = [
  ["expire", "Expire this producer", "As after producer.id.expiration.ms."],
  ["bump_epoch", "Fence this producer", "Its next batch gets INVALID_PRODUCER_EPOCH."],
  ["forget", "Forget this producer", "Its next batch is that of a new producer."],
  ["evict_cache", "Forget its last batches", "A repeated one gets OUT_OF_ORDER_SEQUENCE_NUMBER."],
];

/** Return the panel: `root` and `load(selection)`, which reads the producers of the chosen topic and partition. */
export function producerPanel({ api, actions }) {
  const choice = element("select", { "aria-label": "Producer" });
  const nothing = element("p", { class: "nothing" }, "No idempotent producer has written to this topic and partition.");
  const more = element("p", { class: "nothing", hidden: true }, `The first ${PRODUCERS_MAX.toLocaleString("en")} are shown: choose a topic and partition.`);
  let known = [];

  async function load({ match: { topic, partition } }) {
    const query = new URLSearchParams(Object.entries({ topic, partition }).filter(([, value]) => value !== undefined));
    known = await api.list(`/v1/producers?${query}`, PRODUCERS_MAX);
    const chosen = choice.value;
    more.hidden = known.length < PRODUCERS_MAX;
    fill(choice, known.map((state) => element("option", { value: keyOf(state) }, labelOf(state))));
    if (known.some((state) => keyOf(state) === chosen)) choice.value = chosen;
    choice.hidden = list.hidden = !known.length;
    nothing.hidden = Boolean(known.length);
  }

  function describe(change) {
    const { producer_id, topic, partition } = known.find((state) => keyOf(state) === choice.value);
    return { method: "POST", path: `/v1/producers/${change}`, body: { producer_id, topic, partition } };
  }

  const items = CHANGES.map(([change, label, effect]) => recipeItem(effect, actionButton(label, actions, () => describe(change))));
  const list = element("ul", {}, items);
  return { root: element("section", { "aria-label": "Producers" }, element("h3", {}, "Producers"), nothing, choice, more, list), load };
}

function labelOf({ topic, partition, producer_id: id, producer_epoch: epoch }) {
  return `producer ${id}, epoch ${epoch}, ${topic}-${partition}`;
}

function keyOf({ topic, partition, producer_id: id }) {
  return `${topic}/${partition}/${id}`;
}
