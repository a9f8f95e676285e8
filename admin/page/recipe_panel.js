// The recipes as buttons: one click arms a rule for the chosen target.

import { copyAction } from "./copy_panel.js";
import { button, element } from "./dom.js";
import { errorNames } from "./error_names.js";
import { familyOf } from "./journal.js";
import { defaultOf, ruleOf } from "./recipe_rules.js";
import { RECIPES } from "./recipes.js";

/** Return the panel of all recipes. selection: returns the target, as of targetForm. */
export function recipePanel(actions, selection) {
  return element(
    "div",
    { class: "recipes" },
    errorNames(),
    RECIPES.map(({ group, recipes }) =>
      element("section", {}, element("h3", {}, group), element("ul", {}, recipes.map((recipe) => recipeRow(recipe, actions, selection)))),
    ),
  );
}

function recipeRow(recipe, actions, selection) {
  const fields = (recipe.fields ?? []).map((field) => ({ name: field.name, input: inputOf(field, recipe) }));
  const error = element("p", { class: "error", role: "alert", hidden: true });

  function action() {
    const values = Object.fromEntries(fields.map(({ name, input }) => [name, valueOf(input)]));
    return { method: "POST", path: "/v1/rules", body: ruleOf(recipe.name, { ...selection(), values }) };
  }

  function show(failure) {
    error.hidden = failure === null;
    error.textContent = failure?.message ?? "";
    const [first] = failure === null ? [] : fields.filter(({ name, input }) => isAbout(failure.field, name, input));
    for (const { input } of fields) input.toggleAttribute("aria-invalid", input === first?.input);
    first?.input.focus();
  }

  async function arm() {
    const { method, path, body } = action();
    const added = await actions.perform(recipe.label, method, path, body, { onError: show });
    if (added !== null) show(null);
  }

  const { kind } = ruleOf(recipe.name).action;
  return element(
    "li",
    { class: "recipe" },
    element("span", { class: "group" }, button([dot(kind), recipe.label], arm, { kind: "arm" }), copyAction(recipe.label, action, actions)),
    element("p", {}, recipe.effect),
    fields.length ? element("div", { class: "recipe-fields" }, fields.map(({ input }) => input.closest("label"))) : null,
    error,
  );
}

/** Return the dot in the colour of an action. */
export function dot(kind) {
  return element("i", { class: `dot is-${familyOf(kind)}`, "aria-hidden": "true" });
}

function inputOf(field, recipe) {
  const first = defaultOf(field);
  const label = `${field.label} of: ${recipe.label}`;
  const input =
    field.options === undefined
      ? element("input", {
          "aria-label": label,
          autocomplete: "off",
          value: first,
          ...(typeof first === "number" ? { type: "number", min: 0, size: 7 } : { list: "error-names" }),
          placeholder: field.name === "restart_after_ms" ? "never" : null,
        })
      : element("select", { "aria-label": label }, field.options.map((option) => element("option", {}, option)));
  input.dataset.field = field.as ?? field.name;
  element("label", {}, element("span", {}, field.label), input);
  return input;
}

function valueOf(input) {
  if (input.type !== "number") return input.value.trim();
  return input.value === "" ? null : Number(input.value);
}

function isAbout(field, name, input) {
  return [name, input.dataset.field].includes(field.split(".").at(-1));
}
