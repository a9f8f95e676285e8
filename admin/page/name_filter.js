// The filter of a list by name.

import { element } from "./dom.js";
import { filtersOf, showFilter } from "./list_state.js";
import { showFirstPage } from "./pager.js";

/** Return the filter: `root`, and `isShown(name)`. label: of the list. onChange: called after a change. */
export function nameFilter(label, onChange) {
  const root = element("input", { type: "search", placeholder: "name", "aria-label": `Search ${label.toLowerCase()}`, autocomplete: "off" });
  const wanted = () => root.value.trim();
  root.value = filtersOf(location.hash).get("name") ?? "";
  root.addEventListener("input", () => {
    showFilter("name", wanted());
    showFirstPage(label);
    onChange();
  });
  return { root, isShown: (name) => name.includes(wanted()) };
}
