// Recipes to rules and back.

import { RECIPES } from "./declared.js";

const BY_NAME = new Map(RECIPES.flatMap(({ recipes }) => recipes).map((recipe) => [recipe.name, recipe]));

/** Return the default of an argument of a recipe. */
export function defaultOf(field) {
  return field.options === undefined ? field.value : field.options[0];
}

/**
 * Return the rule of a recipe as JSON of the admin API. match: conditions; a recipe for connections has none.
 * times: hits, null for no limit; undefined for that of the recipe. values: the arguments by name; defaults are used for others.
 * @param {string} name
 * @param {{match?: any, times?: number | null, values?: any}} [options]
 */
export function ruleOf(name, { match = {}, times, values = {} } = {}) {
  const recipe = BY_NAME.get(name);
  const conditions = recipe.match === null ? {} : { ...recipe.match, ...match };
  const hits = times === undefined ? recipe.times : times;
  return {
    name: nameOf(recipe, values),
    ...(Object.keys(conditions).length ? { match: conditions } : {}),
    ...(hits === 1 ? {} : { when: { times: hits } }),
    ...partsOf(recipe, values),
  };
}

/** Return the name of a recipe's rule. Those of errors name the error. */
function nameOf(recipe, values) {
  const [error] = recipe.fields.filter((field) => field.name === "error");
  const first = recipe.name.replace("_error", "").replaceAll("_", " ");
  return error === undefined ? first : `${first} ${values.error ?? error.value}`;
}

/** Return point and action of a recipe's rule. */
function partsOf(recipe, values) {
  const parts = { point: recipe.point, action: { ...recipe.action } };
  for (const field of recipe.fields) {
    const value = field.name in values ? values[field.name] : defaultOf(field);
    if (field.name === "point") parts.point = value;
    else parts.action[field.as] = value;
  }
  return parts;
}

/** Return the recipe that a rule is from and its arguments, as {recipe, values}; null if no recipe can express the rule. */
export function recipeOf(rule) {
  if (Object.keys(rule.when ?? {}).some((name) => name !== "times" && name !== "skip")) return null;
  for (const recipe of BY_NAME.values()) {
    const argument = ({ as }) => (as === "point" ? rule.point : (rule.action[as] ?? null));
    const values = Object.fromEntries(recipe.fields.map((field) => [field.name, argument(field)]));
    const hasApi = recipe.match?.api === undefined || rule.match?.api !== undefined;
    const { point, action } = partsOf(recipe, values);
    const names = Object.keys({ ...action, ...rule.action });
    const isSame = point === rule.point && names.every((name) => (action[name] ?? null) === (rule.action[name] ?? null));
    if (hasApi && isSame && nameOf(recipe, values) === rule.name) return { recipe, values };
  }
  return null;
}
