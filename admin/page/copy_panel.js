// Texts to copy: a panel with a choice of languages, and the buttons of a notice.

import { textsOf } from "./copy_text.js";
import { button, element, fill } from "./dom.js";

const COPIED_MS = 1500;
// The language that was chosen last, for all panels.
let chosen = "curl";

/** Return a panel that shows one of several texts. `update(texts)` replaces them; they are by language. label: for the group. */
export function copyPanel(texts, label = "Copy") {
  const code = element("code");
  const text = element("pre", { tabindex: 0, role: "region", "aria-label": `${label} text` }, code);
  const choice = element("span", { class: "group", role: "group", "aria-label": `${label} as` });
  let shown = texts;
  const copy = button("Copy", () => copyText(shown[current()], copy), { kind: "primary" });

  function current() {
    return chosen in shown ? chosen : Object.keys(shown)[0];
  }

  function draw() {
    code.textContent = shown[current()] || "No body.";
    copy.disabled = !shown[current()];
    for (const each of choice.children) each.setAttribute("aria-pressed", String(each.textContent === current()));
  }

  fill(
    choice,
    Object.keys(texts).map((language) =>
      button(language, () => {
        chosen = language;
        draw();
      }),
    ),
  );
  draw();
  return {
    root: element("section", { class: "copy", "aria-label": label }, element("div", { class: "copy-head" }, choice, copy), text),
    update(next) {
      shown = next;
      draw();
    },
  };
}

/** Return a small button for each language, which copies the action in it. */
export function copyButtons(action, broker) {
  const texts = Object.entries(textsOf(action, broker)).filter(([, text]) => text);
  return element(
    "span",
    { class: "copy-buttons", role: "group", "aria-label": "Copy as" },
    texts.map(([language, text]) => {
      const made = button(language, () => copyText(text, made), { kind: "link", "aria-label": `Copy as ${language}` });
      return made;
    }),
  );
}

/** Copy a text, and say so on the button that was pressed. */
export async function copyText(text, pressed) {
  pressed.dataset.label ??= pressed.textContent;
  const isCopied = await written(text, pressed);
  pressed.textContent = isCopied ? "Copied" : "Not copied";
  setTimeout(() => (pressed.textContent = pressed.dataset.label), COPIED_MS);
}

async function written(text, pressed) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without HTTPS browsers offer the clipboard to pages of this machine only.
    const area = element("textarea", { "aria-hidden": "true", class: "hidden" });
    area.value = text;
    pressed.after(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    pressed.focus();
    return isCopied;
  }
}
