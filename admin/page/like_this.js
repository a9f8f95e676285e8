// From a request to a rule for the next one like it.

import { copyAction } from "./copy_panel.js";
import { button, element } from "./dom.js";
import { topicsOf } from "./journal.js";
import { ruleOf } from "./recipe_rules.js";

/** Return the buttons that lose the next response to a request like this one: of its API, topic, partition and client. */
export function likeThis(entry, actions) {
  const label = `Lose the next ${entry.api === "Produce" ? "acknowledgement" : "response"} like this`;
  const action = () => ({ method: "POST", path: "/v1/rules", body: ruleOf("lost_ack", { match: matchOf(entry) }) });
  const perform = () => actions.perform(label, action().method, action().path, action().body);
  return element("p", { class: "group" }, button(label, perform), copyAction(label, action, actions));
}

function matchOf(entry) {
  const [batch] = entry.batches;
  const [topic] = topicsOf(entry);
  return {
    ...(entry.api === "Produce" ? {} : { api: entry.api }),
    ...(topic === undefined ? {} : { topic }),
    ...(batch === undefined ? {} : { partition: batch.partition }),
    ...(entry.client_id === null ? {} : { client_id: entry.client_id }),
  };
}
