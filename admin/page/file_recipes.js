// The most frequent file faults as buttons.

import { actionButton, recipeItem } from "./action_button.js";
import { element, fill } from "./dom.js";

// Label, kind for the colour, effect and rule.
const RECIPES = [
  ["Disk full", "close", "Appends fail with ENOSPC until the rule is removed.", { action: "disk_full" }],
  ["Read only", "close", "Changes of files fail with EROFS until the rule is removed.", { action: "read_only" }],
  ["Torn write", "truncate", "The next append to a log fails after 30 bytes.", { action: "tear", bytes: 30, file_kind: "log" }],
  [
    ...["Torn write and crash", "crash", "The same, and the node crashes and starts again."],
    { action: "tear", bytes: 30, file_kind: "log", crash: { restart_after_ms: 0 } },
  ],
  ["Slow write", "delay", "The next append takes 2 s longer.", { action: "slow", ms: 2000, operation: "write", file_kind: "log" }],
  ["Slow fsync", "delay", "The next flush of a log takes 2 s longer.", { action: "slow", ms: 2000, operation: "fsync", file_kind: "log" }],
  ["Failed fsync", "close", "The next flush of a log fails with EIO.", { action: "fail", operation: "fsync", file_kind: "log" }],
  ["Corrupt write", "corrupt", "The next append succeeds, with two wrong bytes.", { action: "corrupt", bytes: 2, file_kind: "log" }],
  ["Lost write", "drop", "The next append succeeds, until the node stops.", { action: "lose", operation: "write", file_kind: "log" }],
];

/** Return the panel of the recipes: `root`, and `offer(names)` for the folders of partitions. */
export function fileRecipes(actions) {
  const folders = element("datalist", { id: "log-folders" });
  const folder = element("input", { list: "log-folders", placeholder: "any folder", autocomplete: "off" });
  const describe = (label, rule) => {
    const chosen = folder.value.trim();
    return { method: "POST", path: "/v1/files", body: { name: label.toLowerCase(), ...rule, ...(chosen ? { folder: chosen } : {}) } };
  };
  const items = RECIPES.map(([label, dotOf, effect, rule]) =>
    recipeItem(effect, actionButton(label, actions, () => describe(label, rule), { dotOf })),
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
