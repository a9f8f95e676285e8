// The clock, crashes and restarts, the reset, and snapshots.

import { actionButton } from "./action_button.js";
import { card } from "./card.js";
import { element, fill } from "./dom.js";
import { countText, dateText } from "./format.js";
import { keyedList } from "./keyed_list.js";
import { resetCard } from "./reset_card.js";

const STEPS = { "1 s": 1000, "1 min": 60000, "1 h": 3600000, "1 d": 86400000, "8 d": 691200000 };
const UNITS = { ms: 1, s: 1000, min: 60000, h: 3600000, d: 86400000 };

/** Return the panel: `root` and `load()`. */
export function brokerPanel({ api, actions }) {
  const cards = [clockCard(api, actions), crashCard(api, actions), snapshotCard(api, actions), resetCard(actions)];
  return {
    root: element("div", { class: "two" }, cards.map(({ root }) => root)),
    load: () => Promise.all(cards.map((each) => each.load())),
  };
}

function row(...children) {
  return element("div", { class: "row-of-tools" }, ...children);
}

function clockCard(api, actions) {
  const now = element("p", { class: "mono" }, "\u00a0");
  const amount = element("input", { type: "number", min: 0, value: 10, "aria-label": "Advance by" });
  const unit = element("select", { "aria-label": "Unit" }, Object.entries(UNITS).map(([name, value]) => element("option", { value }, name)));
  const error = element("p", { class: "error", role: "alert", hidden: true });

  async function load() {
    const clock = await api.get("/v1/clock");
    fill(now, clock.mode === "real" ? "follows the machine's clock" : `${dateText(clock.now_ms)}, stands until it is advanced`);
  }

  function onError(failure) {
    error.textContent = failure?.message ?? "";
    error.hidden = failure === null;
    amount.toggleAttribute("aria-invalid", failure !== null);
  }

  function changing(label, name, body) {
    const describe = () => ({ method: "POST", path: "/v1/clock", body: body() });
    return actionButton(label, actions, () => (onError(null), describe()), { name, onError });
  }
  unit.value = UNITS.min;
  const root = card(
    "Clock",
    null,
    now,
    row(changing("Real", "Real clock", () => ({ mode: "real" })), changing("Manual", "Manual clock", () => ({ mode: "manual" }))),
    row(Object.entries(STEPS).map(([step, ms]) => changing(`+ ${step}`, `Advance by ${step}`, () => ({ advance_ms: ms })))),
    row(amount, unit, changing("Advance", "Advance", () => ({ advance_ms: Number(amount.value) * Number(unit.value) }))),
    error,
  );
  return { root, load };
}

function crashCard(api, actions) {
  const node = element("select", { "aria-label": "Node" });
  const back = element("input", { type: "number", min: 0, placeholder: "never" });
  const kept = ["keep", "drop", "corrupt"].map((each) => element("option", { value: each }, `${each} producer snapshots`));
  const snapshots = element("select", { "aria-label": "Producer snapshots" }, kept);
  const state = element("p", { class: "mono" }, "\u00a0");

  async function load() {
    const nodes = await api.list("/v1/nodes");
    const chosen = node.value;
    actions.nodes = nodes.length;
    fill(state, nodes.map((each) => `node ${each.node} ${each.state}`).join(" · "));
    fill(node, nodes.map((each) => element("option", { value: each.node }, `node ${each.node}`)));
    node.value = chosen || nodes[0].node;
    node.hidden = nodes.length < 2;
  }

  function changing(label, path, kind, more) {
    const common = () => ({
      ...(actions.nodes > 1 ? { node: Number(node.value) } : {}),
      ...(snapshots.value === "keep" ? {} : { snapshots: snapshots.value }),
    });
    const describe = () => ({ method: "POST", path, body: { ...common(), ...more() } });
    return actionButton(label, actions, describe, { name: `${label} the node`, kind });
  }
  const root = card(
    "Crash and restart",
    null,
    state,
    row(node, element("label", { class: "check" }, "restart after ms", back), snapshots),
    row(
      changing("Crash", "/v1/crash", "danger", () => (back.value === "" ? {} : { restart_after_ms: Number(back.value) })),
      changing("Restart", "/v1/restart", "", () => ({})),
    ),
  );
  return { root, load };
}

function snapshotCard(api, actions) {
  const list = keyedList("Snapshots", {
    keyOf: ({ id }) => id,
    makeRow: (info) => ({ root: snapshotRow(info, actions), update() {} }),
    empty: "No snapshot. One has logs, producers, topics, configs and committed offsets of a broker in memory.",
  });
  async function load() {
    list.update(await api.list("/v1/snapshot"));
  }
  const take = actionButton("Take a snapshot", actions, () => ({ method: "POST", path: "/v1/snapshot" }));
  return { root: card("Snapshots", take, list.root), load };
}

function snapshotRow({ id, at_ms: at, topics }, actions) {
  const restore = () => ({ method: "POST", path: "/v1/restore", body: { id } });
  const remove = () => ({ method: "DELETE", path: `/v1/snapshot/${id}` });
  const facts = element("p", { class: "mono" }, `${dateText(at)} · ${countText(topics, "topic")}`);
  return element(
    "li",
    { class: "held" },
    element("div", { class: "held-text" }, element("b", {}, `snapshot ${id}`), facts),
    actionButton("Restore", actions, restore, { name: `Restore snapshot ${id}` }),
    actionButton("Delete", actions, remove, { name: `Delete snapshot ${id}` }),
  );
}
