// The names above the lanes of the timeline, and the lines below them.

import { element, shape } from "./dom.js";

// Lanes that are nearer have their names at two heights.
const SPACING_MIN = 72;
// Nodes that are nearer have their ids only.
const NODE_SPACING_MIN = 52;

/** Draw the names into `heads` and the lines into `lifelines`. columns: Columns of these lanes. */
export function drawLaneHeads(heads, lifelines, lanes, columns) {
  const isStaggered = lanes.length > 1 && columns.spacing < SPACING_MIN;
  heads.classList.toggle("is-staggered", isStaggered);
  const width = Math.max(28, (isStaggered ? 2 : 1) * columns.spacing || 220);
  const ofLanes = lanes.map((name) => headAt(columns.of(name), name, { title: name, width }));
  const ofBroker = columns.nodes.size
    ? [...columns.nodes].map(([node, x]) => nodeHead(node, x, columns.nodeSpacing))
    : [headAt(columns.broker, "broker", { kind: " broker" })];
  heads.replaceChildren(...(lanes.length ? [...ofLanes, ...ofBroker] : []));
  const ofNodes = columns.nodes.size ? [...columns.nodes.values()] : [columns.broker];
  lifelines.replaceChildren(
    ...lanes.map((name) => lineAt(columns.of(name), "")),
    ...ofNodes.map((x) => lineAt(x, "broker")),
  );
}

function nodeHead(node, x, spacing) {
  return headAt(x, spacing < NODE_SPACING_MIN ? String(node) : `node ${node}`, { kind: " broker", title: `node ${node}` });
}

function headAt(x, text, { kind = "", title = null, width = null }) {
  const head = element("span", { class: `lane-head${kind}`, title }, text);
  head.style.left = `${x}px`;
  if (width !== null) head.style.maxWidth = `${width}px`;
  return head;
}

function lineAt(x, kind) {
  return shape("line", { class: kind, x1: x, x2: x, y1: 0, y2: "100%" });
}
