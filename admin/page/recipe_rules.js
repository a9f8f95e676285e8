// Recipes to rules and back.

import { RECIPES } from "./recipes.js";

const PRODUCE = "Produce";
// By the name of the method.
const BY_NAME = new Map(RECIPES.flatMap(({ recipes }) => recipes).map((recipe) => [recipe.name, recipe]));

/** Return the default of an argument of a recipe. */
export function defaultOf(field) {
  return field.options === undefined ? field.value : field.options[0];
}

/**
 * Return the rule of a recipe as JSON of the admin API. match: conditions; a recipe for connections has none.
 * times: hits, null for no limit, undefined for that of the recipe. values: the arguments by name; defaults are used for others.
 */
export function ruleOf(name, { match = {}, times, values = {} } = {}) {
  const recipe = BY_NAME.get(name);
  const rule = recipe.rule(...(recipe.fields ?? []).map((field) => values[field.name] ?? (field.name in values ? null : defaultOf(field))));
  const api = recipe.api === undefined ? PRODUCE : recipe.api;
  const conditions = { ...(api === null ? {} : { api }), ...(recipe.isOfConnections ? {} : match) };
  const hits = times === undefined ? recipe.times : times;
  return {
    name: rule.name,
    ...(Object.keys(conditions).length ? { match: conditions } : {}),
    ...(hits === undefined || hits === 1 ? {} : { when: { times: hits } }),
    point: rule.point,
    action: rule.action,
  };
}

/** Return the recipe that a rule is from and its arguments, as {recipe, values}; null if no recipe can express the rule. */
export function recipeOf(rule) {
  if (Object.keys(rule.when ?? {}).some((name) => name !== "times" && name !== "skip")) return null;
  for (const recipe of BY_NAME.values()) {
    const values = Object.fromEntries(
      (recipe.fields ?? []).map((field) => [field.name, field.name === "point" ? rule.point : (rule.action[field.as ?? field.name] ?? null)]),
    );
    if (isSame(recipe.rule(...Object.values(values)), rule) && hasApiOf(recipe, rule)) return { recipe, values };
  }
  return null;
}

function isSame(made, rule) {
  const { kind, ...fields } = made.action;
  const given = Object.entries(rule.action).filter(([name]) => name !== "kind");
  return (
    made.name === rule.name &&
    made.point === rule.point &&
    kind === rule.action.kind &&
    given.every(([name, value]) => fields[name] === value) &&
    Object.entries(fields).every(([name, value]) => (rule.action[name] ?? null) === value)
  );
}

function hasApiOf(recipe, rule) {
  return recipe.api === null || rule.match?.api !== undefined;
}
