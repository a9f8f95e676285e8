// From a request to a rule for the next one like it.

import { actionButton } from "./action_button.js";
import { topicsOf } from "./journal.js";
import { ruleOf } from "./recipe_rules.js";

/** Return the button that loses the next response to a request like this one: of its API, topic, partition and client. */
export function likeThis(entry, actions) {
  const label = `Lose the next ${entry.api === "Produce" ? "acknowledgement" : "response"} like this`;
  return actionButton(label, actions, () => ({ method: "POST", path: "/v1/rules", body: ruleOf("lost_ack", { match: matchOf(entry) }) }));
}

function matchOf(entry) {
  const fields = { api: entry.api, topic: topicsOf(entry)[0], partition: entry.batches[0]?.partition, client_id: entry.client_id };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}
