// Buttons that perform an action, each with a small one that shows the action to copy.

import { copyPanel } from "./copy_panel.js";
import { textsOf } from "./copy_text.js";
import { openDialog } from "./dialogs.js";
import { button, element } from "./dom.js";

/**
 * Return a button that performs an action, with one that shows it to copy. describe: returns {method, path, body}.
 * name: of the action, the label if that says enough. onError: as in Actions.perform. dotOf: a family of actions, for a dot before it.
 */
export function actionButton(label, actions, describe, { name = label, kind = "", onError = null, dotOf = null } = {}) {
  const perform = () => {
    const { method, path, body, places } = describe();
    actions.perform(name, method, path, body, { onError, places });
  };
  const main = button(dotOf === null ? label : [dot(dotOf), label], perform, { kind, "aria-label": name });
  return element("span", { class: "group" }, main, copyAction(name, actions, describe));
}

/** Return a button that shows an action to copy in a dialog. describe: as in actionButton. */
export function copyAction(name, actions, describe) {
  const show = () => openDialog(name, copyPanel(textsOf(describe(), actions.broker)).root);
  return button("", show, { kind: "copy-action", "aria-label": `Copy: ${name}`, title: "Copy as curl, Python or JSON" });
}

/** Return the dot in the colour of a family of actions. */
export function dot(family) {
  return element("i", { class: `dot is-${family}`, "aria-hidden": "true" });
}

/** Return a recipe of a list: its button, what it does, and more nodes. */
export function recipeItem(effect, actionGroup, ...more) {
  return element("li", { class: "recipe" }, actionGroup, element("p", {}, effect), ...more);
}
