// What the recipes of the faults view are for: topic, partition, client and the number of hits, chosen once.

import { element, fill } from "./dom.js";

// Kept while other views are shown.
const chosen = { topic: "", partition: "", client_id: "", times: "1" };

/** Return the form: `root`, `selection()` and `offer(topics, clients)`. onChange: called after each change. */
export function targetForm(onChange) {
  const topics = element("datalist", { id: "target-topics" });
  const clients = element("datalist", { id: "target-clients" });
  const root = element(
    "form",
    { class: "target", role: "group", "aria-label": "Requests of", on: { submit: (event) => event.preventDefault(), input: changed } },
    labeled("Topic", { name: "topic", list: "target-topics", placeholder: "any topic" }),
    labeled("Partition", { name: "partition", type: "number", min: 0, placeholder: "any" }),
    labeled("Client id", { name: "client_id", list: "target-clients", placeholder: "any client" }),
    labeled("Hits", { name: "times", type: "number", min: 1, placeholder: "no limit" }),
    topics,
    clients,
  );

  function changed() {
    for (const name of Object.keys(chosen)) chosen[name] = root.elements[name].value.trim();
    onChange();
  }

  return {
    root,
    /** Return {match, times} for recipes. */
    selection: () => ({ match: matchOf(chosen), times: chosen.times === "" ? null : Number(chosen.times) }),
    offer(topicNames, clientIds) {
      offerAll(topics, topicNames);
      offerAll(clients, clientIds);
    },
  };
}

function labeled(label, properties) {
  const field = element("input", { autocomplete: "off", value: chosen[properties.name], ...properties });
  return element("label", { class: "field" }, element("span", {}, label), field);
}

/** @returns {any} the conditions of a rule */
function matchOf({ topic, partition, client_id: client }) {
  return {
    ...(topic === "" ? {} : { topic }),
    ...(partition === "" ? {} : { partition: Number(partition) }),
    ...(client === "" ? {} : { client_id: client }),
  };
}

function offerAll(list, names) {
  const wanted = [...names].sort();
  if (wanted.join("\n") === [...list.options].map(({ value }) => value).join("\n")) return;
  fill(list, wanted.map((name) => element("option", { value: name })));
}
