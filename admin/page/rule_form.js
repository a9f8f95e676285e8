// The form of a fault rule or file fault rule, with every field of its model. The API checks it; errors are shown at their fields.

import { copyPanel } from "./copy_panel.js";
import { textsOf } from "./copy_text.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill } from "./dom.js";
import { FieldError, schemaInput, textOfValue, valueOfText } from "./schema_fields.js";

// Lists of the faults view with values to choose from.
const LISTS = { "match.api": "api-names", "match.topic": "target-topics", "match.client_id": "target-clients", "action.error": "error-names" };

/**
 * Open a form in a dialog. kind: of rule_kinds.js. schemas: of schema_fields.js. rule: what it begins with, null for nothing.
 * id: of the rule that it replaces, null to add one.
 */
export function openRuleForm(kind, { schemas, actions, rule = null, id = null }) {
  const title = id === null ? `New ${kind.noun}` : `Edit ${kind.noun} ${id}`;
  const form = new RuleForm(kind, schemas);
  form.write(rule ?? {});
  const action = () => ({ method: id === null ? "POST" : "PUT", path: id === null ? kind.path : `${kind.path}/${id}`, body: form.read() });
  const copy = copyPanel({ curl: "", Python: "", JSON: "" }, "Copy the rule");

  function preview() {
    try {
      copy.update(textsOf(action(), actions.broker));
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
    }
  }

  async function submit(event) {
    event.preventDefault();
    form.clearErrors();
    try {
      const { method, path, body } = action();
      const label = id === null ? `Add ${kind.noun}` : `Replace ${kind.noun} ${id}`;
      if ((await actions.perform(label, method, path, body, { onError: (error) => form.showError(error) })) !== null) dialog.close();
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      form.showError(error);
    }
  }

  form.root.addEventListener("submit", submit);
  form.root.addEventListener("input", preview);
  form.root.append(
    copy.root,
    element("p", { class: "actions" }, button(id === null ? "Add rule" : "Replace rule", null, { type: "submit", kind: "primary" })),
  );
  const dialog = openDialog(title, form.root);
  preview();
}

/** The fields of a rule, from its models. */
class RuleForm {
  constructor(kind, schemas) {
    this.kind = kind;
    this.schemas = schemas;
    // Described fields by their names, and the input of each.
    this.fields = new Map();
    this.inputs = new Map();
    this.message = element("p", { class: "error", role: "alert", hidden: true });
    this.parts = element("div", { class: "parameters" });
    this.root = element("form", { class: "rule-form", novalidate: true }, this.message, kind.layout(this));
    this.root.addEventListener("change", (event) => this.chosen(event.target));
  }

  /** Return a part of the form with a heading. names: fields of the model, in order; prefix: before their names. */
  part(heading, model, prefix, names = null) {
    const fields = this.schemas.fieldsOf(model).filter(({ name }) => names === null || names.includes(name));
    return element(
      "fieldset",
      {},
      element("legend", {}, heading),
      element("div", { class: "fields" }, fields.map((field) => this.labeled(prefix + field.name, field))),
    );
  }

  labeled(name, field) {
    const hasOwnList = field.kind === "text" && field.options !== undefined;
    const input = schemaInput(name, field, { list: hasOwnList ? `options-${name}` : LISTS[name] });
    this.fields.set(name, field);
    this.inputs.set(name, input);
    const label = element("label", {}, element("span", {}, name.split(".").at(-1).replaceAll("_", " ")), input);
    const options = hasOwnList
      ? element("datalist", { id: `options-${name}` }, field.options.map((option) => element("option", { value: option })))
      : null;
    return element("div", { class: "field" }, label, options, element("p", { class: "error", id: `error-${name}`, hidden: true }));
  }

  remove(prefix) {
    for (const name of [...this.inputs.keys()].filter((each) => each.startsWith(prefix))) {
      this.inputs.delete(name);
      this.fields.delete(name);
    }
  }

  /** Let the kind of rule show the fields that go with what was chosen. */
  chosen(input) {
    this.kind.chosen(this, input.name);
  }

  /** Fill the form with a rule. */
  write(rule) {
    this.kind.prepare(this, rule);
    for (const [name, input] of this.inputs) {
      const value = name.split(".").reduce((within, part) => within?.[part], rule);
      if (value === undefined) continue;
      if (input.type === "checkbox") input.checked = value;
      else input.value = textOfValue(value, this.fields.get(name).kind);
    }
    this.kind.chosen(this, null);
  }

  /** Return the rule, without fields that have their defaults. Throws FieldError. */
  read() {
    const rule = {};
    for (const [name, input] of this.inputs) {
      const field = this.fields.get(name);
      const value = input.type === "checkbox" ? input.checked : valueOfText(name, input.value.trim(), field);
      if (value === undefined || value === field.default) continue;
      const parts = name.split(".");
      const last = parts.pop();
      const within = parts.reduce((outer, part) => (outer[part] ??= {}), rule);
      within[last] = value;
    }
    return this.kind.finish(rule, this);
  }

  clearErrors() {
    this.message.hidden = true;
    for (const [name, input] of this.inputs) {
      input.removeAttribute("aria-invalid");
      this.errorOf(name).hidden = true;
    }
  }

  errorOf(name) {
    return this.root.querySelector(`[id="error-${name}"]`);
  }

  /** Show an error at the field that it names, or above the form. */
  showError({ field, message }) {
    const name = [...this.inputs.keys()].find((each) => field === each || field?.startsWith(`${each}.`) || field?.startsWith(`${each}[`));
    const place = name === undefined ? this.message : this.errorOf(name);
    fill(place, message);
    place.hidden = false;
    const input = this.inputs.get(name);
    input?.setAttribute("aria-invalid", "true");
    (input ?? this.root.querySelector("input")).focus();
  }
}
