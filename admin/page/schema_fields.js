// Fields of a form for the models of /openapi.json, and their values as text that a person types.
//
// A text is itself, a regular expression /.../, or JSON if it begins with {, [ or ". Numbers are a number, a range 3..7, or JSON.
// A header is name=value. An empty field is not sent.

import { element } from "./dom.js";

/** The models of the API. */
export class Schemas {
  /** description: the body of /openapi.json. */
  constructor(description) {
    this.components = description.components.schemas;
  }

  /** Return the schema of a model, by its name or by a schema that refers to it. */
  model(name) {
    return this.components[name.$ref?.split("/").at(-1) ?? name];
  }

  /** Return the fields of a model: {name, kind, default, options, isNullable, hasPattern, isNumberToo}. */
  fieldsOf(model) {
    return Object.entries(this.model(model).properties).map(([name, schema]) => ({ name, ...this.describe(schema) }));
  }

  describe(schema) {
    const kinds = schema.anyOf ?? [schema];
    const models = kinds.flatMap((each) => (each.$ref === undefined ? [] : [this.model(each)]));
    const of = (type) => kinds.find((each) => each.type === type);
    const shared = {
      default: schema.default ?? null,
      isNullable: of("null") !== undefined,
      options: kinds.find((each) => each.enum !== undefined)?.enum,
      hasPattern: models.some((model) => "regex" in model.properties),
      isNumberToo: of("integer") !== undefined,
    };
    return { ...shared, kind: kindOf(shared, of, models) };
  }
}

function kindOf({ options }, of, models) {
  if (options !== undefined) return of("array") === undefined ? "choice" : "text";
  if (of("boolean") !== undefined) return "boolean";
  if (of("string") !== undefined) return "text";
  if (of("number") !== undefined) return "number";
  if (of("integer") !== undefined) return of("array") === undefined ? "integer" : "numbers";
  return models.some((model) => model.title === "HeaderMatch") ? "header" : "model";
}

/** A field could not be read. `field`: its name. */
export class FieldError extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/** Return a value as the text of its field. */
export function textOfValue(value, kind) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return /^[{["]|^\/.*\/$/.test(value) || (kind === "numbers" && value) ? JSON.stringify(value) : value;
  if (typeof value !== "object") return String(value);
  const names = Object.keys(value).join();
  if (names === "regex") return `/${value.regex}/`;
  if (names === "from,to") return `${value.from}..${value.to}`;
  if (kind === "header" && typeof value.value === "string" && !value.name.includes("=")) return `${value.name}=${value.value}`;
  return JSON.stringify(value);
}

/** Return the value of a field's text; undefined for an empty one. Throws FieldError. */
export function valueOfText(name, text, { kind, hasPattern, isNullable, isNumberToo, default: byDefault }) {
  if (text === "") return isNullable && byDefault !== null ? null : undefined;
  if (/^[{["]/.test(text)) return valueOfJson(name, text);
  if (hasPattern && /^\/.*\/$/.test(text)) return { regex: text.slice(1, -1) };
  if (kind === "header") return valueOfHeader(text);
  const range = text.match(/^(-?\d+)\.\.(-?\d+)$/);
  if (kind === "numbers" && range !== null) return { from: Number(range[1]), to: Number(range[2]) };
  const isNumber = (isNumberToo || kind === "number") && /^-?\d+(\.\d+)?$/.test(text);
  return isNumber ? Number(text) : text;
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

/** Return an input of a form. name: with the names of the models around it, such as "match.topic". */
export function schemaInput(name, field, { list } = {}) {
  const common = { name, "aria-describedby": `error-${name}` };
  if (field.kind === "boolean") return element("input", { ...common, type: "checkbox", checked: field.default === true });
  if (field.kind === "choice") {
    const none = field.isNullable ? [element("option", { value: "" }, "any")] : [];
    return element("select", common, none, field.options.map((option) => element("option", {}, option)));
  }
  const value = field.default === null ? null : textOfValue(field.default, field.kind);
  return element("input", { ...common, value, list, autocomplete: "off", spellcheck: "false", placeholder: placeholderOf(field) });
}

function placeholderOf({ kind, options, hasPattern, isNullable, default: byDefault }) {
  if (options !== undefined) return "any";
  if (kind === "header") return "name=value";
  if (kind === "numbers") return "5 or 3..7";
  if (hasPattern) return "text or /regex/";
  return isNullable && byDefault !== null ? "no limit" : null;
}
