// Questions to the person at the page.

import { button, element } from "./dom.js";

/** Append a dialog to the page and open it; it is removed when it closes. */
export function showDialog(dialog) {
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Ask for the token of --admin-token; isWrong: whether one was refused. Returns a promise of the token. */
export function askForToken(isWrong) {
  return new Promise((resolve) => {
    const field = element("input", { type: "password", name: "token", required: true, autocomplete: "off", "aria-label": "Token" });
    const dialog = element(
      "dialog",
      { class: "ask", "aria-labelledby": "token-title" },
      element(
        "form",
        { method: "dialog" },
        element("h2", { id: "token-title" }, "Token"),
        element("p", {}, isWrong ? "The broker refused this token." : "This broker was started with --admin-token."),
        field,
        element("p", { class: "actions" }, button("Continue", null, { type: "submit", kind: "primary" })),
      ),
    );
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => resolve(field.value));
    showDialog(dialog);
  });
}

/** Show a dialog, which ends by its button, by Escape, or by `close` of the result. */
export function openDialog(title, ...content) {
  const dialog = element("dialog", { class: "wide", "aria-label": title });
  dialog.append(
    element(
      "header",
      {},
      element("h2", {}, title),
      button("✕", () => dialog.close(), { kind: "quiet", "aria-label": "Close dialog" }),
    ),
    ...content,
  );
  return showDialog(dialog);
}
