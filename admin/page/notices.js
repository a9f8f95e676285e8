// Short notices at the edge of the page, which go away by themselves.

import { button, element } from "./dom.js";

const SHOWN_MS = 6000;
const NOTICES_MAX = 4;

/** Show a notice. kind: "done" or "failed". children: further nodes, such as buttons. */
export function notify(text, kind = "done", ...children) {
  const place = document.getElementById("notices");
  const notice = element("div", { class: `notice is-${kind}` }, element("span", {}, text), ...children);
  notice.append(button("\u2715", () => notice.remove(), { kind: "quiet", "aria-label": "Close notice" }));
  place.append(notice);
  while (place.children.length > NOTICES_MAX) place.firstChild.remove();
  removeLater(notice);
}

function removeLater(notice) {
  setTimeout(() => {
    // A person may be reading it, or about to press one of its buttons.
    if (notice.matches(":hover, :focus-within")) removeLater(notice);
    else notice.remove();
  }, SHOWN_MS);
}
