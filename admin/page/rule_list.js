// The rules in force in the order in which they are evaluated, with their hits and what can be done with them.

import { copyAction, dot } from "./action_button.js";
import { card } from "./card.js";
import { withoutDefaults } from "./copy_text.js";
import { button, element, fill } from "./dom.js";
import { countText } from "./format.js";
import { keyedList } from "./keyed_list.js";
import { openRuleForm } from "./rule_form.js";

const NEAR_MISSES_SHOWN = 3;
const CONFLICT = 409;

/**
 * Return the list: `root` and `load()`, which reads the rules and returns whether the broker has such rules. kind: of rule_kinds.js.
 * schemas: returns a promise of the models for the form.
 */
export function ruleList(kind, { api, actions, schemas, empty }) {
  const makeRow = (info) => ruleRow(info, kind, { actions, edit });
  const list = keyedList(`${kind.noun}s in force`, { keyOf: ({ id }) => id, makeRow, empty });
  const refusal = element("p", { class: "nothing", hidden: true });
  const removeAll = button("Remove all", () => actions.perform(`Remove all ${kind.noun}s`, "DELETE", kind.path));

  async function load() {
    try {
      const rules = await api.list(kind.path);
      list.update(rules);
      removeAll.disabled = !rules.length;
      return true;
    } catch (error) {
      if (error.status !== CONFLICT) throw error;
      // A broker without file faults says so.
      fill(refusal, error.message);
      refusal.hidden = false;
      root.classList.add("is-refused");
      return false;
    }
  }

  async function edit(info = null) {
    const rule = info && withoutDefaults(info);
    openRuleForm(kind, { schemas: await schemas(), actions, rule, id: info && info.id });
  }

  const tools = [button(`New ${kind.noun}…`, () => edit()), removeAll];
  const root = card("In force", tools, refusal, list.root);
  return { root, load };
}

function ruleRow(first, kind, { actions, edit }) {
  let info = first;
  const path = `${kind.path}/${info.id}`;
  const title = element("b");
  const text = element("p", { class: "mono" });
  const counts = element("span", { class: "counts" });
  const misses = element("ul", { class: "misses" });
  const enabled = element("input", { type: "checkbox", role: "switch", on: { change: () => change(enabled.checked) } });

  async function change(isEnabled) {
    const label = `${isEnabled ? "Enable" : "Disable"} ${kind.noun} ${info.id}`;
    const changed = await actions.perform(label, "PATCH", path, { enabled: isEnabled });
    if (changed === null) enabled.checked = !isEnabled;
  }

  const remove = () => actions.perform(`Remove ${kind.noun} ${info.id}`, "DELETE", path);

  const describe = () => ({ method: "POST", path: kind.path, body: withoutDefaults(info) });
  const root = element(
    "li",
    { class: "rule" },
    element("div", { class: "rule-head" }, dot(kind.familyOf(info)), title, element("span", { class: "spacer" }), counts),
    text,
    misses,
    element(
      "div",
      { class: "rule-tools" },
      element("label", { class: "check" }, enabled, "enabled"),
      element("span", { class: "spacer" }),
      copyAction(`${kind.noun} ${info.id}`, actions, describe),
      button("Edit", () => edit(info), { "aria-label": `Edit ${kind.noun} ${info.id}` }),
      button("Remove", remove, { "aria-label": `Remove ${kind.noun} ${info.id}` }),
    ),
  );

  return {
    root,
    update(next) {
      info = next;
      title.textContent = `${info.id} ${info.name}`;
      text.textContent = kind.inWords(info);
      counts.textContent = countsText(info);
      root.classList.toggle("is-spent", info.remaining === 0 || !info.enabled);
      enabled.checked = info.enabled;
      enabled.setAttribute("aria-label", `${kind.noun} ${info.id} enabled`);
      fill(misses, missTexts(info, kind.matched).map((miss) => element("li", {}, miss)));
    },
  };
}

function countsText({ hits, matched, remaining }) {
  const left = remaining === null ? "no limit" : remaining === 0 ? "none left" : `${remaining.toLocaleString("en")} left`;
  const more = matched > hits ? ` of ${matched.toLocaleString("en")} matches` : "";
  return `${countText(hits, "hit")}${more} · ${left}`;
}

/** Return why requests did not match a rule that has no hit. */
function missTexts(info, noun) {
  if (info.hits || !info.enabled) return [];
  return info.near_misses.slice(0, NEAR_MISSES_SHOWN).map((miss) => `${countText(miss.count, noun)} ${miss.message}`);
}
