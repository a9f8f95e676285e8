// The form of a fault rule or file fault rule, with every field of its model. The API checks it; errors are shown at their fields.

import { copyPanel } from "./copy_panel.js";
import { textsOf } from "./copy_text.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill } from "./dom.js";
import { FieldError, schemaInput, textOfValue, valueOfText } from "./schema_fields.js";

// Lists of the faults view with values to choose from.
const LISTS = { "match.api": "api-names", "match.topic": "target-topics", "match.client_id": "target-clients", "action.error": "error-names" };
const KIND = "action.kind";

/**
 * Open a form in a dialog. kind: of rule_kinds.js. schemas: of schema_fields.js. rule: what it begins with, null for a new one.
 * id: of the rule that it replaces, null to add one.
 */
export function openRuleForm(kind, { schemas, actions, rule = null, id = null }) {
  const isNew = id === null;
  const form = new RuleForm(kind, schemas, rule ?? kind.first);
  const describe = () => ({ method: isNew ? "POST" : "PUT", path: isNew ? kind.path : `${kind.path}/${id}`, body: form.read() });
  const copy = copyPanel({ curl: "", Python: "", JSON: "" }, "Copy the rule");
  const preview = () => form.orShowError(() => copy.update(textsOf(describe(), actions.broker)));

  async function submit(event) {
    event.preventDefault();
    const action = form.orShowError(describe);
    if (action === undefined) return;
    const label = isNew ? `Add a ${kind.noun}` : `Replace ${kind.noun} ${id}`;
    const onError = (error) => form.showError(error);
    // Two quick clicks add one rule.
    save.disabled = true;
    const result = await actions.perform(label, action.method, action.path, action.body, { onError });
    save.disabled = false;
    if (result !== null) dialog.close();
  }

  const save = button(isNew ? "Add rule" : "Replace rule", null, { type: "submit", kind: "primary" });
  form.root.addEventListener("submit", submit);
  form.root.addEventListener("input", preview);
  form.root.append(copy.root, element("p", { class: "actions" }, save));
  const dialog = openDialog(isNew ? `New ${kind.noun}` : `Edit ${kind.noun} ${id}`, form.root);
  preview();
}

/** The fields of a rule, from its models. */
class RuleForm {
  constructor(kind, schemas, rule) {
    this.kind = kind;
    this.schemas = schemas;
    // Each field with its input, by its name.
    this.fields = new Map();
    this.message = element("p", { class: "error", role: "alert", hidden: true });
    this.parameters = element("div", { class: "parameters" });
    this.root = element("form", { class: "rule-form", novalidate: true }, this.message, kind.parts.map((part) => this.part(...part)));
    this.offerPoints(rule.action?.kind);
    this.write(rule);
  }

  part(heading, model, prefix, names = null) {
    const fields = this.schemas.fieldsOf(this.schemas.model(model ?? this.kind.model)).filter(({ name }) => names === null || names.includes(name));
    fields.sort((one, other) => (names === null ? 0 : names.indexOf(one.name) - names.indexOf(other.name)));
    const isOfAction = (field) => field.kind === "action";
    const labeled = fields.map((field) => (isOfAction(field) ? this.actionField(field) : this.labeled(prefix + field.name, field)));
    const all = [...labeled, fields.some(isOfAction) && this.parameters];
    return element("fieldset", {}, element("legend", {}, heading), element("div", { class: "fields" }, all));
  }

  labeled(name, field) {
    const options = field.kind === "text" ? field.options : undefined;
    const input = schemaInput(name, field, options === undefined ? LISTS[name] : `options-${name}`);
    this.fields.set(name, { ...field, input });
    return element(
      "div",
      { class: "field" },
      element("label", { for: input.id }, name.split(".").at(-1).replaceAll("_", " ")),
      input,
      options && element("datalist", { id: `options-${name}` }, options.map((option) => element("option", { value: option }))),
      element("p", { class: "error", id: `error-${name}`, hidden: true }),
    );
  }

  /** Return the choice of the action's kind, which decides the points and the parameters. */
  actionField({ models }) {
    this.actions = new Map(models.map((model) => [model.properties.kind.enum[0], model]));
    const field = this.labeled(KIND, { kind: "choice", options: [...this.actions.keys()], default: null });
    this.fields.get(KIND).input.addEventListener("change", (event) => this.offerPoints(event.target.value));
    return field;
  }

  /** Offer the points that the action allows, and its parameters. */
  offerPoints(kind) {
    if (kind === undefined) return;
    const model = this.actions.get(kind);
    const { input } = this.fields.get("point");
    const before = input.value;
    fill(input, model["x-points"].map((point) => element("option", {}, point)));
    if (model["x-points"].includes(before)) input.value = before;
    for (const name of [...this.fields.keys()]) if (name.startsWith("action.") && name !== KIND) this.fields.delete(name);
    const fields = this.schemas.fieldsOf(model).filter(({ name }) => name !== "kind");
    fill(this.parameters, fields.map((field) => this.labeled(`action.${field.name}`, field)));
  }

  write(rule) {
    for (const [name, { input }] of this.fields) {
      const value = name.split(".").reduce((within, part) => within?.[part], rule);
      if (value === undefined) continue;
      if (input.type === "checkbox") input.checked = value;
      else input.value = textOfValue(value);
    }
  }

  /** Return the rule, without fields that have their defaults. Throws FieldError. */
  read() {
    const rule = {};
    for (const [name, field] of this.fields) {
      const { input } = field;
      const value = input.type === "checkbox" ? input.checked : valueOfText(name, input.value.trim(), field);
      if (value === undefined || value === field.default) continue;
      const parts = name.split(".");
      const last = parts.pop();
      const within = parts.reduce((outer, part) => (outer[part] ??= {}), rule);
      within[last] = value;
    }
    return rule;
  }

  /** Return the result of work; undefined, and show it, if a field cannot be read. */
  orShowError(work) {
    for (const [name, { input }] of this.fields) {
      input.removeAttribute("aria-invalid");
      this.errorOf(name).hidden = true;
    }
    this.message.hidden = true;
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      this.showError(error);
    }
  }

  errorOf(name) {
    return this.root.querySelector(`[id="error-${name}"]`);
  }

  /** Show an error at the field that it names, or above the form. */
  showError({ field, message }) {
    const name = [...this.fields.keys()].find((each) => field === each || field?.startsWith(`${each}.`) || field?.startsWith(`${each}[`));
    const place = name === undefined ? this.message : this.errorOf(name);
    fill(place, message);
    place.hidden = false;
    const input = this.fields.get(name)?.input;
    input?.setAttribute("aria-invalid", "true");
    (input ?? place).focus();
  }
}
