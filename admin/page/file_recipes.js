// The most frequent file faults as buttons.

import { actionButton, recipeItem } from "./action_button.js";
import { FILE_RECIPES } from "./declared.js";
import { element, fill } from "./dom.js";

/** Return the panel of the recipes: `root`, and `offer(names)` for the folders of partitions. */
export function fileRecipes(actions) {
  const folders = element("datalist", { id: "log-folders" });
  const folder = element("input", { list: "log-folders", placeholder: "any folder", autocomplete: "off" });
  const describe = (label, rule) => {
    const chosen = folder.value.trim();
    return { method: "POST", path: "/v1/files", body: { name: label.toLowerCase(), ...rule, ...(chosen ? { folder: chosen } : {}) } };
  };
  const items = FILE_RECIPES.map(({ label, effect, family, rule }) =>
    recipeItem(effect, actionButton(label, actions, () => describe(label, rule), { dotOf: family })),
  );
  return {
    root: element(
      "div",
      { class: "recipes" },
      element("div", { class: "target" }, element("label", { class: "field" }, element("span", {}, "Folder"), folder, folders)),
      element("ul", {}, items),
    ),
    offer: (names) => fill(folders, names.map((value) => element("option", { value }))),
  };
}
