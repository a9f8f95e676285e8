// A part of a view with a frame and a heading.

import { element } from "./dom.js";

/** Return the part. tools: in the line of the heading. */
export function card(label, tools, ...children) {
  const head = element("header", {}, element("h2", {}, label), element("span", { class: "spacer" }), tools);
  return element("section", { class: "card", "aria-label": label }, head, ...children);
}
