// What was done in this page, and all of it as one text to copy.

import { card } from "./card.js";
import { copyPanel } from "./copy_panel.js";
import { button, element, fill } from "./dom.js";
import { sessionTexts } from "./session_text.js";

/** Return the panel: `root` and `load()`. */
export function sessionPanel({ api, actions }) {
  const list = element("ol", { class: "done", "aria-label": "Actions of this page" });
  const copy = copyPanel({ pytest: "", curl: "", Python: "" }, "Copy the session");
  const clear = button("Clear", () => actions.clear());
  const nothing = element("p", { class: "nothing" }, "Nothing was done in this page yet. Rules that are armed here, and all other changes, are listed here.");

  function update() {
    const { done } = actions;
    fill(list, done.map(({ label, method, path }) => element("li", {}, label, " ", element("code", {}, `${method} ${path}`))));
    copy.update(done.length ? sessionTexts(done, actions.broker) : { pytest: "", curl: "", Python: "" });
    nothing.hidden = Boolean(done.length);
    clear.disabled = !done.length;
  }

  async function load() {
    actions.nodes = (await api.list("/v1/nodes")).length;
    update();
  }
  update();
  const root = element("div", { class: "two is-even" }, card("Session", clear, nothing, list), card("Copy the session", null, copy.root));
  return { root, load };
}
