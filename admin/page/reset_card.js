// The reset of the broker, which asks for its scope first.

import { card } from "./card.js";
import { copyPanel } from "./copy_panel.js";
import { textsOf } from "./copy_text.js";
import { openDialog } from "./dialogs.js";
import { button, element } from "./dom.js";

// Source: admin/operations/reset_operations.py.
const SCOPES = {
  faults: "Removes all rules, and closes the connections with held, delayed or hanging requests.",
  journal: "Deletes all requests, and resets the verdict.",
  data: "Closes all connections, deletes topics, groups and configs, and resets the clock.",
  all: "All of these.",
};

/** Return the card: `root` and `load()`. */
export function resetCard(actions) {
  const ask = button("Reset…", () => askReset(actions));
  return { root: card("Reset", ask, element("p", {}, "Back to the state after the start, in the same process.")), async load() {} };
}

function askReset(actions) {
  const describe = () => ({ method: "POST", path: "/v1/reset", body: { scope: form.elements.scope.value } });
  const copy = copyPanel({ curl: "", Python: "", JSON: "" }, "Copy the reset");
  const preview = () => copy.update(textsOf(describe(), actions.broker));
  const choices = Object.entries(SCOPES).map(([name, effect]) => {
    const choice = element("input", { type: "radio", name: "scope", value: name, checked: name === "faults" });
    return element("label", { class: "scope" }, choice, element("b", {}, name), element("span", {}, effect));
  });
  const form = element(
    "form",
    { class: "rule-form", on: { change: preview, submit } },
    element("fieldset", {}, element("legend", {}, "Scope"), choices),
    copy.root,
    element("p", { class: "actions" }, button("Cancel", () => dialog.close()), button("Reset", null, { type: "submit", kind: "danger" })),
  );
  const dialog = openDialog("Reset the broker", form);
  preview();

  async function submit(event) {
    event.preventDefault();
    const { method, path, body } = describe();
    dialog.close();
    await actions.perform(`Reset ${body.scope}`, method, path, body);
  }
}
