// The most frequent file faults as buttons.

import { copyAction } from "./copy_panel.js";
import { button, element } from "./dom.js";
import { dot } from "./recipe_panel.js";

const RECIPES = [
  { label: "Disk full", effect: "Appends fail with ENOSPC until the rule is removed.", rule: { action: "disk_full" }, kind: "close" },
  { label: "Read only", effect: "All changes of files fail with EROFS until the rule is removed.", rule: { action: "read_only" }, kind: "close" },
  {
    label: "Torn write",
    effect: "The next append to a log stops after 30 bytes; it fails.",
    rule: { action: "tear", bytes: 30, file_kind: "log" },
    kind: "truncate",
  },
  {
    label: "Torn write and crash",
    effect: "The same, and the node crashes; it starts again at once.",
    rule: { action: "tear", bytes: 30, file_kind: "log", crash: { restart_after_ms: 0 } },
    kind: "crash",
  },
  {
    label: "Slow fsync",
    effect: "The next flush of a log takes 2 s on the broker's clock.",
    rule: { action: "slow", ms: 2000, operation: "fsync", file_kind: "log" },
    kind: "delay",
  },
  {
    label: "Slow write",
    effect: "The next append takes 2 s on the broker's clock.",
    rule: { action: "slow", ms: 2000, operation: "write", file_kind: "log" },
    kind: "delay",
  },
  {
    label: "Corrupt write",
    effect: "The last two bytes of the next append to a log are flipped, and the client gets a success.",
    rule: { action: "corrupt", bytes: 2, file_kind: "log" },
    kind: "corrupt",
  },
  {
    label: "Lost write",
    effect: "The next append is reported as done, and disappears when the node stops or crashes.",
    rule: { action: "lose", operation: "write", file_kind: "log" },
    kind: "drop",
  },
  {
    label: "Failed fsync",
    effect: "The next flush of a log fails with EIO.",
    rule: { action: "fail", operation: "fsync", file_kind: "log" },
    kind: "close",
  },
];

/** Return the panel of the recipes, and `element.offer(folders)` for its folder. */
export function fileRecipes(actions, after) {
  const folders = element("datalist", { id: "log-folders" });
  const folder = element("input", { list: "log-folders", placeholder: "any folder", autocomplete: "off" });
  const root = element(
    "div",
    { class: "recipes" },
    element("label", { class: "field" }, element("span", {}, "Folder"), folder, folders),
    element("ul", {}, RECIPES.map((recipe) => fileRecipe(recipe, actions, after, () => folder.value.trim()))),
  );
  return {
    root,
    /** Offer the folders of partitions. */
    offer(names) {
      folders.replaceChildren(...names.map((value) => element("option", { value })));
    },
  };
}

function fileRecipe({ label, effect, rule, kind }, actions, after, folder) {
  const action = () => {
    const chosen = folder();
    return { method: "POST", path: "/v1/files", body: { name: label.toLowerCase(), ...rule, ...(chosen ? { folder: chosen } : {}) } };
  };
  async function arm() {
    const { method, path, body } = action();
    await actions.perform(label, method, path, body);
    await after();
  }
  return element(
    "li",
    { class: "recipe" },
    element("span", { class: "group" }, button([dot(kind), label], arm, { kind: "arm" }), copyAction(label, action, actions)),
    element("p", {}, effect),
  );
}
