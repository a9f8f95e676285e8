// The view of the nodes: their state, and what cuts, stops and starts them.

import { button, element, facts } from "./dom.js";
import { openForm } from "./form_dialog.js";
import { countText } from "./format.js";
import { badge, liveView } from "./live_view.js";

const TONES = { running: "ok", stopped: "slow", crashed: "cut" };
const SURROUNDINGS = [["controller", "the controller"], ["nodes", "the other nodes"], ["clients", "its clients"]];
const STOPS = {
  controlled: ["controlled, as by SIGTERM: its leaders move first", { controlled: true }],
  killed: ["killed, as by SIGKILL: the controller learns of it when the session expires", { controlled: false }],
  noticed: ["killed, and the controller learns of it at once", { controlled: false, noticed: true }],
};

/** Return the view of the nodes. */
export function nodesView(api, actions) {
  const view = liveView({
    title: "Nodes",
    parts: ["nodes", "topics"],
    read: () => api.list("/v1/nodes"),
    draw: (nodes) => element("div", { class: "cards" }, nodes.map((node) => nodeCard(node, nodes, { api, actions, view }))),
  });
  return view;
}

function nodeCard(node, nodes, page) {
  return element(
    "article",
    { class: "card", "aria-label": `Node ${node.node}` },
    element("h3", {}, `Node ${node.node} `, badge(node.state, TONES[node.state]), node.isolated_from.length ? badge("isolated", "cut") : null),
    facts([
      ["Address", node.bootstrap],
      ["Release", node.as_version],
      ["Rack", node.rack],
      ["Leader of", countText(node.leads, "partition")],
      ["Connections", node.connections],
      ["Isolated from", node.isolated_from.length ? node.isolated_from.join(", ") : undefined],
    ]),
    element("div", { class: "links" }, nodes.length > 1 ? changesOf(node, nodes, page) : changesOfOne(node, page)),
  );
}

/** Perform a change of a node, and read the nodes again. */
async function change(node, label, path, body, { actions, view }, options) {
  const result = await actions.perform(`Node ${node.node}: ${label}`, "POST", path, body, options);
  view.refresh();
  return result;
}

function changesOf(node, nodes, page) {
  const path = `/v1/nodes/${node.node}`;
  const key = (name) => ({ "data-key": `${name}/${node.node}` });
  const rejoin = button("Rejoin", () => change(node, "rejoined", `${path}/rejoin`, undefined, page), key("rejoin"));
  const parts = [];
  if (node.state === "running") {
    parts.push(
      button("Stop", () => askToStop(node, page), key("stop")),
      button("Isolate", () => askToIsolate(node, page), key("isolate")),
      button("Move leaders", () => askToMoveLeaders(node, nodes, page), { ...key("move"), disabled: node.leads === 0 }),
    );
  } else parts.push(button("Start", () => change(node, "started", `${path}/start`, undefined, page), key("start")));
  return node.isolated_from.length ? [...parts, rejoin] : parts;
}

function changesOfOne(node, page) {
  if (node.state !== "running") return button("Restart", () => askToRestart(node, page), { "data-key": "restart" });
  return button("Crash", () => askToCrash(node, page), { "data-key": "crash" });
}

function askToStop(node, page) {
  openForm({
    title: `Stop node ${node.node}`,
    label: "Stop",
    fields: [{ name: "how", label: "How", type: "select", options: Object.entries(STOPS).map(([key, [text]]) => [key, text]) }],
    perform: ({ how }, onError) => change(node, how === "controlled" ? "stopped" : "killed", `/v1/nodes/${node.node}/stop`, STOPS[how][1], page, { onError }),
  });
}

function askToIsolate(node, page) {
  openForm({
    title: `Isolate node ${node.node}`,
    text: "Cut it off, as a broken network does, from",
    label: "Isolate",
    fields: SURROUNDINGS.map(([name, label]) => ({ name, label, type: "checkbox" })),
    perform(values, onError) {
      const from = SURROUNDINGS.map(([name]) => name).filter((name) => values[name]);
      return change(node, `isolated from ${from.join(", ")}`, `/v1/nodes/${node.node}/isolate`, { from }, page, { onError });
    },
  });
}

function askToMoveLeaders(node, nodes, page) {
  const others = nodes.filter((each) => each.node !== node.node && each.state === "running");
  openForm({
    title: `Move the leaders of node ${node.node}`,
    text: "Of all partitions whose ISR has the other node.",
    label: "Move",
    fields: [{ name: "node", label: "To", type: "select", required: true, options: others.map((each) => [each.node, `node ${each.node}`]) }],
    perform: ({ node: target }, onError) => moveLeaders(node, Number(target), page, onError),
  });
}

async function moveLeaders(node, target, page, onError) {
  const partitions = await page.api.list("/v1/partitions?limit=1000", 10000);
  const movable = partitions.filter((each) => each.leader === node.node && each.isr.includes(target));
  if (!movable.length) {
    onError({ field: "node", message: `node ${target} is in the ISR of no partition that node ${node.node} leads` });
    return null;
  }
  for (const { topic, partition } of movable) {
    const moved = await change(node, `${topic}-${partition} moved to node ${target}`, "/v1/partitions/leader", { topic, partition, node: target }, page, { onError });
    if (moved === null) return null;
  }
  return movable;
}

function askToCrash(node, page) {
  openForm({
    title: "Crash the node",
    text: "As by SIGKILL. The admin API and this page stay.",
    label: "Crash",
    kind: "danger",
    fields: [{ name: "restart_after_ms", label: "Restart after ms", type: "number", min: 0, hint: "on the broker's clock; empty for no restart" }],
    perform({ restart_after_ms: after }, onError) {
      return change(node, "crashed", "/v1/crash", { restart_after_ms: after === "" ? null : Number(after) }, page, { onError });
    },
  });
}

function askToRestart(node, page) {
  openForm({
    title: "Restart the node",
    label: "Restart",
    fields: [{ name: "snapshots", label: "Producer snapshots", type: "select", options: ["keep", "drop", "corrupt"].map((name) => [name, name]) }],
    perform: ({ snapshots }, onError) => change(node, "restarted", "/v1/restart", { snapshots }, page, { onError }),
  });
}
