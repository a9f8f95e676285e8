// Dialogs with a form: for what a person adds, and for changes that a person confirms.

import { showDialog } from "./dialogs.js";
import { button, element } from "./dom.js";

/**
 * Open a dialog and return it.
 * fields: {name, label, type, options, hint, ...attributes}; type: that of an input, "textarea" or "select" with options
 * [value, text]. perform(values, onError): returns a promise of null if it failed, which leaves the dialog open;
 * onError(error) shows an error of the API at the field that it names.
 */
export function openForm({ title, text = null, fields = [], label, kind = "primary", perform }) {
  const controls = new Map(fields.map((field) => [field.name, controlOf(field)]));
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", { id: "form-title" }, title),
    text === null ? null : element("p", {}, text),
    fields.map((field) => rowOf(field, controls.get(field.name))),
    problem,
    element(
      "p",
      { class: "actions" },
      button("Cancel", () => dialog.close()),
      element("button", { type: "submit", class: kind }, label),
    ),
  );
  const dialog = element("dialog", { class: "form-dialog", "aria-labelledby": "form-title" }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const submit = form.querySelector("[type=submit]");
    submit.disabled = true;
    problem.hidden = true;
    const show = (error) => showError(error, controls, problem);
    const result = await perform(valuesOf(controls), show).catch((error) => {
      show(error);
      return null;
    });
    submit.disabled = false;
    if (result !== null) dialog.close();
  });
  return showDialog(dialog);
}

function controlOf({ name, type = "text", options = [], value, label, hint, ...attributes }) {
  if (type === "select") {
    return element("select", { name, ...attributes }, options.map(([key, text]) => element("option", { value: key, selected: key === value }, text)));
  }
  if (type === "textarea") return element("textarea", { name, rows: 4, ...attributes });
  return element("input", { name, type, value, autocomplete: "off", ...attributes });
}

function rowOf({ label, type, hint }, control) {
  if (type === "checkbox") return element("label", { class: "check" }, control, label);
  const field = element("label", { class: "field" }, element("span", {}, label), control);
  if (hint === undefined) return field;
  control.setAttribute("aria-describedby", `hint-${control.name}`);
  return element("div", { class: "field" }, field, element("small", { id: `hint-${control.name}` }, hint));
}

function valuesOf(controls) {
  return Object.fromEntries([...controls].map(([name, control]) => [name, control.type === "checkbox" ? control.checked : control.value]));
}

function showError(error, controls, problem) {
  // "records[0].key" is about the field `key`.
  const name = String(error.field ?? "").split(".").at(-1);
  const control = controls.get(name);
  problem.textContent = error.message;
  problem.hidden = false;
  if (control === undefined) return;
  control.closest("label").after(problem);
  control.setAttribute("aria-invalid", "true");
  control.addEventListener("input", () => control.removeAttribute("aria-invalid"), { once: true });
  control.focus();
}
