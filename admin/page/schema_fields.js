// Fields of a form for the models of /openapi.json, and their values as text that a person types.
//
// A text is itself, a regular expression /.../, or JSON if it begins with {, [ or ". Numbers are a number, a range 3..7, or JSON.
// A header is name=value. An empty field is not sent.

import { element } from "./dom.js";

const NEVER = "never";

/** The models of the API. */
export class Schemas {
  /** description: the body of /openapi.json. */
  constructor(description) {
    this.components = description.components.schemas;
  }

  /** Return the schema of a model by its name. */
  model(name) {
    return this.components[name];
  }

  /** Return the fields of a model: {name, kind, default, options, isNullable, hasPattern, isNumberToo, models}. */
  fieldsOf({ properties }) {
    return Object.entries(properties).map(([name, schema]) => ({ name, ...this.describe(schema) }));
  }

  describe(schema) {
    const kinds = schema.anyOf ?? [schema];
    const of = (type) => kinds.some((each) => each.type === type);
    const models = kinds.flatMap((each) => (each.$ref === undefined ? [] : [this.model(each.$ref.split("/").at(-1))]));
    const field = {
      default: schema.default ?? null,
      isNullable: of("null"),
      options: kinds.find((each) => each.enum !== undefined)?.enum,
      hasPattern: models.some((model) => "regex" in model.properties),
      isNumberToo: of("integer") || of("number"),
      models,
    };
    return { ...field, kind: kindOf(field, of) };
  }
}

function kindOf({ options, isNumberToo, models }, of) {
  if (models.some((model) => "kind" in model.properties)) return "action";
  if (models.some((model) => "restart_after_ms" in model.properties)) return "crash";
  if (models.some((model) => model.title === "HeaderMatch")) return "header";
  if (options !== undefined && !of("array")) return "choice";
  if (of("boolean")) return "boolean";
  return isNumberToo && of("array") ? "numbers" : "text";
}

/** A field could not be read. `field`: its name. */
export class FieldError extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/** Return a value as the text of its field. */
export function textOfValue(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return isPlain(value) ? value : JSON.stringify(value);
  if (typeof value !== "object") return String(value);
  switch (Object.keys(value).join()) {
    case "regex":
      return `/${value.regex}/`;
    case "from,to":
      return `${value.from}..${value.to}`;
    case "name,value":
      return typeof value.value === "string" && !value.name.includes("=") && isPlain(`${value.name}=${value.value}`)
        ? `${value.name}=${value.value}`
        : JSON.stringify(value);
    case "restart_after_ms":
      return value.restart_after_ms === null ? NEVER : String(value.restart_after_ms);
    default:
      return JSON.stringify(value);
  }
}

/** Return whether a text reads back from its field as it is: the others are written as JSON. */
function isPlain(text) {
  return text !== "" && text === text.trim() && !/^[{["]|^\/.*\/$|[\x00-\x1f\x7f]/.test(text);
}

/** Return the value of a field's text; undefined for an empty one. Throws FieldError. */
export function valueOfText(name, text, { kind, hasPattern, isNullable, isNumberToo, default: byDefault }) {
  if (text === "") return isNullable && byDefault !== null ? null : undefined;
  if (/^[{["]/.test(text)) return valueOfJson(name, text);
  if (hasPattern && /^\/.*\/$/.test(text)) return { regex: text.slice(1, -1) };
  if (kind === "header") return valueOfHeader(text);
  const range = text.match(/^(-?\d+)\.\.(-?\d+)$/);
  if (kind === "numbers" && range !== null) return { from: Number(range[1]), to: Number(range[2]) };
  const value = /^-?\d+(\.\d+)?$/.test(text) && (isNumberToo || kind === "crash") ? Number(text) : text;
  return kind === "crash" ? { restart_after_ms: value === NEVER ? null : value } : value;
}

function valueOfHeader(text) {
  const [name, ...rest] = text.split("=");
  return rest.length ? { name, value: rest.join("=") } : { name };
}

function valueOfJson(name, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new FieldError(name, `${text} is not JSON`);
  }
}

/** Return an input of a form. name: with the names of the models around it, such as "match.topic". list: of values to choose from. */
export function schemaInput(name, field, list) {
  const common = { name, id: `field-${name}`, "aria-describedby": `error-${name}` };
  if (field.kind === "boolean") return element("input", { ...common, type: "checkbox", checked: field.default === true });
  if (field.kind === "choice") {
    const none = field.isNullable ? [element("option", { value: "" }, "any")] : [];
    return element("select", common, none, field.options.map((option) => element("option", {}, option)));
  }
  // An empty field is its default.
  const shown = { value: field.default === "" ? "" : textOfValue(field.default), placeholder: placeholderOf(field) };
  return element("input", { ...common, ...shown, list, autocomplete: "off", spellcheck: "false" });
}

function placeholderOf({ kind, options, hasPattern, isNullable, default: byDefault }) {
  if (options !== undefined) return "any";
  if (hasPattern) return "text or /regex/";
  const byKind = { header: "name=value", numbers: "5 or 3..7", crash: "restart after ms" };
  return byKind[kind] ?? (isNullable && byDefault !== null ? "no limit" : null);
}
