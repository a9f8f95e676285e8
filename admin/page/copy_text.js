// Actions as text to copy: curl lines and Python calls of the admin API, with everything quoted.

import { DEFAULTS } from "./declared.js";
import { defaultOf, recipeOf } from "./recipe_rules.js";

// Characters that are invisible, or change the direction of the text around them.
const UNSEEN = /[\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;
const ANSWER_FIELDS = ["id", "hits", "matched", "remaining", "last_hit_ms", "near_misses"];

/**
 * Return a rule of the API's response without its counts and without what is a default: the body that made it.
 * The default of a field says nothing, and a rule is read more easily without it.
 */
export function withoutDefaults(rule) {
  const kept = {};
  for (const [name, value] of Object.entries(rule)) {
    if (ANSWER_FIELDS.includes(name) || value === null || value === "" || (name === "enabled" && value)) continue;
    kept[name] = withoutThose(value, name === "action" ? DEFAULTS.action[value.kind] : DEFAULTS[name]);
    if ((name === "when" || name === "match") && !Object.keys(kept[name]).length) delete kept[name];
  }
  return kept;
}

function withoutThose(fields, defaults) {
  if (defaults === undefined) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !(name in defaults) || defaults[name] !== value));
}

/** Return a value as JSON in one line, in which every character can be seen. */
function jsonText(value, indent) {
  return JSON.stringify(value, null, indent).replace(UNSEEN, (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Return a word of a POSIX shell that stands for the text. */
function shellQuoted(text) {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Return a value of JSON as an expression of Python. */
export function pythonText(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  // The escapes of JSON are those of Python.
  if (typeof value !== "object") return jsonText(value);
  if (Array.isArray(value)) return `[${value.map(pythonText).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([name, each]) => `${jsonText(name)}: ${pythonText(each)}`)
    .join(", ")}}`;
}

/**
 * Return the curl line of an action. broker: `origin` of the API and `hasToken`. quotedPath: a word instead of its path.
 * @param {{method: string, path?: string, body?: any}} action
 * @param {any} broker
 * @param {string | null} quotedPath
 */
export function curlText({ method, path, body }, broker, quotedPath = null) {
  const words = ["curl", "-s"];
  if (method !== (body === undefined ? "GET" : "POST")) words.push("-X", method);
  if (broker.origin.startsWith("https:")) words.push('${FAUXKA_ADMIN_CA:+--cacert "$FAUXKA_ADMIN_CA"}');
  if (broker.hasToken) words.push('-H "Authorization: Bearer $FAUXKA_ADMIN_TOKEN"');
  words.push(quotedPath === null ? shellQuoted(broker.origin + path) : shellQuoted(broker.origin) + quotedPath);
  if (body !== undefined) words.push("-d", shellQuoted(jsonText(body)));
  return words.join(" ");
}

/** Return the lines of Python that make `broker`. */
export function pythonHead({ origin, hasToken }) {
  const isSecure = origin.startsWith("https:");
  const given = [jsonText(origin)];
  if (hasToken) given.push('os.environ["FAUXKA_ADMIN_TOKEN"]');
  if (isSecure) given.push('ca=os.environ.get("FAUXKA_ADMIN_CA")');
  return [
    ...(hasToken || isSecure ? ["import os", ""] : []),
    "from fauxka.testing.remote_broker import RemoteBroker",
    "",
    `broker = RemoteBroker(${given.join(", ")})`,
  ];
}

/** Return the call of Python that adds a rule: of a recipe if the rule is a recipe's. faults: the expression of the rules. */
export function addRuleText(rule, faults) {
  const found = recipeOf(rule);
  if (found === null) return `${faults}.add(${pythonText(rule)})`;
  return `${faults}.${found.recipe.name}(${argumentsOf(rule, found).join(", ")})`;
}

function argumentsOf(rule, { recipe, values }) {
  const own = recipe.fields
    .filter((field) => field.isRequired || values[field.name] !== defaultOf(field))
    .map((field) => `${field.name}=${pythonText(values[field.name])}`);
  const given = { ...rule.match };
  if (given.api === recipe.match?.api) delete given.api;
  const { times = 1, ...when } = rule.when ?? {};
  if (times !== recipe.times) given.times = times;
  if (rule.enabled === false) given.enabled = false;
  Object.assign(given, when);
  return [...own, ...Object.entries(given).map(([name, value]) => `${name}=${pythonText(value)}`)];
}

/** Return the call of Python of an action. quotedPath: an expression instead of its path. */
export function pythonCall({ method, path, body }, quotedPath = null) {
  if (method === "POST" && path === "/v1/rules") return addRuleText(body, "broker.faults");
  const given = [jsonText(method), quotedPath ?? jsonText(path), ...(body === undefined ? [] : [pythonText(body)])];
  return `broker.call(${given.join(", ")})`;
}

/** Return the texts of an action by language. */
export function textsOf(action, broker) {
  return {
    curl: curlText(action, broker),
    Python: [...pythonHead(broker), pythonCall(action)].join("\n"),
    JSON: action.body === undefined ? "" : jsonText(action.body, 2),
  };
}
