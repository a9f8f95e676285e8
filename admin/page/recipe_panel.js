// The recipes as buttons: one click arms a rule for the chosen target.

import { actionButton, recipeItem } from "./action_button.js";
import { RECIPES } from "./declared.js";
import { element } from "./dom.js";
import { familyOf } from "./journal.js";
import { defaultOf, ruleOf } from "./recipe_rules.js";

// To choose from; any other name or code can be typed, and the API checks it.
const ERRORS =
  "NOT_LEADER_OR_FOLLOWER REQUEST_TIMED_OUT NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND LEADER_NOT_AVAILABLE " +
  "UNKNOWN_TOPIC_OR_PARTITION TOPIC_AUTHORIZATION_FAILED OUT_OF_ORDER_SEQUENCE_NUMBER UNKNOWN_PRODUCER_ID INVALID_PRODUCER_EPOCH " +
  "PRODUCER_FENCED MESSAGE_TOO_LARGE CORRUPT_MESSAGE KAFKA_STORAGE_ERROR NOT_COORDINATOR REBALANCE_IN_PROGRESS";

/** Return the panel of all recipes. selection: returns the target, as of targetForm. */
export function recipePanel(actions, selection) {
  return element(
    "div",
    { class: "recipes" },
    element("datalist", { id: "error-names" }, ERRORS.split(" ").map((name) => element("option", { value: name }))),
    RECIPES.map(({ group, recipes }) =>
      element("section", {}, element("h3", {}, group), element("ul", {}, recipes.map((recipe) => recipeRow(recipe, actions, selection)))),
    ),
  );
}

function recipeRow(recipe, actions, selection) {
  const inputs = recipe.fields.map((field) => inputOf(field, recipe));
  const error = element("p", { class: "error", role: "alert", hidden: true });

  function describe() {
    const values = Object.fromEntries(recipe.fields.map(({ name }, number) => [name, valueOf(inputs[number])]));
    const { match, times } = selection();
    const hits = recipe.times === null ? undefined : times;
    return { method: "POST", path: "/v1/rules", body: ruleOf(recipe.name, { match, times: hits, values }) };
  }

  function show(failure) {
    error.hidden = failure === null;
    error.textContent = failure?.message ?? "";
    const part = failure?.field.split(".").at(-1);
    for (const [number, { as }] of recipe.fields.entries()) inputs[number].setAttribute("aria-invalid", part === as);
  }

  const arm = actionButton(recipe.label, actions, () => (show(null), describe()), { onError: show, dotOf: familyOf(recipe.action.kind) });
  const labels = recipe.fields.map(({ label }, number) => element("label", {}, element("span", {}, label), inputs[number]));
  return recipeItem(recipe.effect, arm, labels.length ? element("div", { class: "recipe-fields" }, labels) : null, error);
}

function inputOf(field, recipe) {
  const label = { "aria-label": `${field.label} of: ${recipe.label}` };
  if (field.options !== undefined) return element("select", label, field.options.map((option) => element("option", {}, option)));
  const value = defaultOf(field);
  const kind = typeof value === "number" ? { type: "number", min: 0 } : { list: "error-names" };
  return element("input", { ...label, ...kind, value, autocomplete: "off", placeholder: field.isRequired ? null : "never" });
}

function valueOf(input) {
  if (input.type !== "number") return input.value.trim();
  return input.value === "" ? null : Number(input.value);
}
