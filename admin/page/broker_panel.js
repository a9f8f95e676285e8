// The clock, crashes and restarts, the reset, and snapshots.

import { copyAction, copyPanel } from "./copy_panel.js";
import { textsOf } from "./copy_text.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill } from "./dom.js";
import { countText, dateText } from "./format.js";
import { keyedList } from "./keyed_list.js";

const STEPS = [["1 s", 1000], ["1 min", 60000], ["1 h", 3600000], ["1 d", 86400000], ["8 d", 691200000]];
const UNITS = [["ms", 1], ["s", 1000], ["min", 60000], ["h", 3600000], ["d", 86400000]];
// Source: admin/operations/reset_operations.py.
const SCOPES = {
  faults: "Removes all rules and closes the connections with held, delayed or hanging requests.",
  journal: "Deletes all requests, and resets the verdict.",
  data: "Closes all connections; deletes topics, groups and configs, and sets the clock to real.",
  all: "All of these.",
};

/** Return the panel: `root`, `load()` and `changed(part)`. */
export function brokerPanel({ api, actions }) {
  const parts = [clockCard(api, actions), crashCard(api, actions), snapshotCard(api, actions), resetCard(actions)];
  const load = () => Promise.all(parts.map((part) => part.load?.()));
  return { root: element("div", { class: "two" }, parts.map((part) => part.root)), load, changed: load, close() {} };
}

function card(label, ...children) {
  return element("section", { class: "card", "aria-label": label }, element("header", {}, element("h2", {}, label)), ...children);
}

/** Return a button that performs an action, with one that shows it to copy. describe: returns {method, path, body}. */
function performing(label, actions, describe, { kind = "", name = label, after = () => {}, onError = null } = {}) {
  async function perform() {
    const { method, path, body } = describe();
    await actions.perform(name, method, path, body, { onError });
    await after();
  }
  const main = button(label, perform, { kind, "aria-label": name });
  return element("span", { class: "group" }, main, copyAction(name, describe, actions));
}

function row(...children) {
  return element("div", { class: "row-of-tools" }, ...children);
}

function clockCard(api, actions) {
  const now = element("p", { class: "mono" }, "\u00a0");
  const amount = element("input", { type: "number", min: 0, size: 8, value: 10, "aria-label": "Advance by" });
  const unit = element("select", { "aria-label": "Unit" }, UNITS.map(([name, ms]) => element("option", { value: ms, selected: name === "min" }, name)));
  const error = element("p", { class: "error", role: "alert", hidden: true });
  const change = (body) => () => ({ method: "POST", path: "/v1/clock", body });
  const custom = () => change({ advance_ms: Math.round(Number(amount.value) * Number(unit.value)) })();

  async function load() {
    const clock = await api.get("/v1/clock");
    fill(now, `${dateText(clock.now_ms)}, ${clock.mode === "real" ? "follows the machine's clock" : "stands until it is advanced"}`);
    error.hidden = true;
  }

  const onError = (failure) => {
    error.textContent = failure.message;
    error.hidden = false;
    amount.setAttribute("aria-invalid", "true");
  };
  const step = (name, ms) => performing(`+ ${name}`, actions, change({ advance_ms: ms }), { name: `Advance by ${name}`, after: load });
  const root = card(
    "Clock",
    now,
    row(
      performing("Real", actions, change({ mode: "real" }), { name: "Real clock", after: load }),
      performing("Manual", actions, change({ mode: "manual" }), { name: "Manual clock", after: load }),
    ),
    row(STEPS.map(([name, ms]) => step(name, ms))),
    row(amount, unit, performing("Advance", actions, custom, { name: "Advance by this", onError })),
    error,
  );
  return { root, load };
}

function crashCard(api, actions) {
  const node = element("select", { "aria-label": "Node" });
  const after = element("input", { type: "number", min: 0, size: 8, placeholder: "never", "aria-label": "Restart after ms" });
  const snapshots = element(
    "select",
    { "aria-label": "Producer snapshots" },
    ["keep", "drop", "corrupt"].map((each) => element("option", { value: each }, `${each} producer snapshots`)),
  );
  const state = element("p", { class: "mono" }, "\u00a0");

  function common() {
    return {
      ...(actions.nodes > 1 ? { node: Number(node.value) } : {}),
      ...(snapshots.value === "keep" ? {} : { snapshots: snapshots.value }),
    };
  }

  const crash = () => ({
    method: "POST",
    path: "/v1/crash",
    body: { ...common(), ...(after.value === "" ? {} : { restart_after_ms: Number(after.value) }) },
  });
  const restart = () => ({ method: "POST", path: "/v1/restart", body: common() });

  async function load() {
    const nodes = await api.list("/v1/nodes");
    actions.nodes = nodes.length;
    fill(state, nodes.map((each) => `node ${each.node} ${each.state}`).join(" · "));
    const chosen = node.value;
    fill(node, nodes.map((each) => element("option", { value: each.node }, `node ${each.node}`)));
    if (chosen) node.value = chosen;
    node.hidden = nodes.length < 2;
  }

  const root = card(
    "Crash and restart",
    state,
    row(node, element("label", { class: "check" }, "restart after ms", after), snapshots),
    row(
      performing("Crash", actions, crash, { name: "Crash the node", kind: "danger", after: load }),
      performing("Restart", actions, restart, { name: "Restart the node", after: load }),
    ),
  );
  return { root, load };
}

function snapshotCard(api, actions) {
  const list = keyedList("Snapshots", {
    keyOf: ({ id }) => id,
    makeRow: (info) => snapshotRow(info, actions, () => load()),
    empty: "No snapshot. One has logs, producers, topics, configs and committed offsets of a broker in memory.",
  });
  async function load() {
    list.update(await api.list("/v1/snapshot"));
  }
  const take = () => ({ method: "POST", path: "/v1/snapshot" });
  const root = card("Snapshots", row(performing("Take a snapshot", actions, take, { after: load })), list.root);
  return { root, load };
}

function snapshotRow(info, actions, load) {
  const restore = () => ({ method: "POST", path: "/v1/restore", body: { id: info.id } });
  const remove = () => ({ method: "DELETE", path: `/v1/snapshot/${info.id}` });
  const root = element(
    "li",
    { class: "held" },
    element("div", { class: "held-text" }, element("b", {}, `snapshot ${info.id}`), element("p", { class: "mono" }, `${dateText(info.at_ms)} · ${countText(info.topics, "topic")}`)),
    performing("Restore", actions, restore, { name: `Restore snapshot ${info.id}`, after: load }),
    performing("Delete", actions, remove, { name: `Delete snapshot ${info.id}`, after: load }),
  );
  return { root, update() {} };
}

function resetCard(actions) {
  const root = card(
    "Reset",
    element("p", {}, "Back to the state after the start, without a new process."),
    row(button("Reset…", () => askReset(actions))),
  );
  return { root };
}

/** Ask for the scope of a reset, and reset. */
function askReset(actions) {
  const scope = () => form.elements.scope.value;
  const describe = () => ({ method: "POST", path: "/v1/reset", body: { scope: scope() } });
  const copy = copyPanel({ curl: "", Python: "", JSON: "" }, "Copy the reset");
  const form = element(
    "form",
    { class: "rule-form", on: { change: () => copy.update(textsOf(describe(), actions.broker)), submit: (event) => submit(event) } },
    element(
      "fieldset",
      {},
      element("legend", {}, "Scope"),
      Object.entries(SCOPES).map(([name, effect]) =>
        element(
          "label",
          { class: "scope" },
          element("input", { type: "radio", name: "scope", value: name, checked: name === "faults" }),
          element("b", {}, name),
          element("span", {}, effect),
        ),
      ),
    ),
    copy.root,
    element("p", { class: "actions" }, button("Cancel", () => dialog.close()), button("Reset", null, { type: "submit", kind: "danger" })),
  );
  const dialog = openDialog("Reset the broker", form);
  copy.update(textsOf(describe(), actions.broker));

  async function submit(event) {
    event.preventDefault();
    dialog.close();
    const { method, path, body } = describe();
    await actions.perform(`Reset ${body.scope}`, method, path, body);
  }
}
