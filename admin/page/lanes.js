// The lanes of the timeline: one a client, a connection or a producer, one a node, and where each is drawn.

// More are drawn as one lane, so that each stays wide enough to follow.
const LANES_MAX = 12;
const OTHERS = "others";
// What there is a lane per; the first one is the default.
export const LANES = ["client", "connection", "producer", "node"];

/** Return the name of a request's lane. by: one of LANES. */
export function laneOf(entry, by) {
  if (by === "client") return entry.client_id ?? "no client id";
  if (by === "node") return `node ${entry.node}`;
  if (by === "producer") {
    const batch = entry.batches.find((each) => each.producer_id >= 0);
    if (batch !== undefined) return `producer ${batch.producer_id}`;
    return entry.transactional_id === null ? "no producer" : entry.transactional_id;
  }
  return `${entry.client_id ?? "client"} #${entry.connection}`;
}

/** Return the names of the lanes in their order. counts: of their requests. The least busy ones beyond LANES_MAX are one. */
export function lanesOf(counts) {
  const names = [...counts.keys()];
  if (names.length <= LANES_MAX) return names;
  const busiest = new Set(names.toSorted((one, other) => counts.get(other) - counts.get(one)).slice(0, LANES_MAX - 1));
  return [...names.filter((name) => busiest.has(name)), OTHERS];
}

// Left of the lanes: time and id. Right of the broker: what it decided.
const GUTTER = 118;
const GUTTER_NARROW = 62;
const DECISION_SHARE = 0.3;
const NARROW = 640;
// Between two nodes, in pixels, and of the width at most.
const NODE_SPACING = 56;
const NODES_SHARE = 0.2;

/**
 * The horizontal places of gutter, lanes and nodes in a width. `broker`: of the last node, or of the only one.
 * nodes: the ids of several nodes in their order, else an empty list.
 */
export class Columns {
  constructor(width, lanes, nodes = []) {
    this.isNarrow = width < NARROW;
    this.gutter = this.isNarrow ? GUTTER_NARROW : GUTTER;
    this.broker = Math.round(this.isNarrow ? width - 18 : width * (1 - DECISION_SHARE));
    this.width = width;
    this.nodeSpacing = nodes.length > 1 ? Math.min(NODE_SPACING, (width * NODES_SHARE) / (nodes.length - 1)) : 0;
    this.nodes = new Map(nodes.map((node, number) => [node, Math.round(this.broker - (nodes.length - 1 - number) * this.nodeSpacing)]));
    const firstNode = nodes.length ? this.nodes.get(nodes[0]) : this.broker;
    const span = (firstNode - this.gutter) * (lanes.length > 4 ? 0.5 : 0.3);
    this.spacing = lanes.length > 1 ? span / (lanes.length - 1) : 0;
    this.places = new Map(lanes.map((name, number) => [name, Math.round(this.gutter + 14 + number * this.spacing)]));
  }

  /** Return the place of a lane; of one that is not drawn by itself, that of the others. */
  of(lane) {
    return this.places.get(lane) ?? this.places.get(OTHERS) ?? this.gutter + 14;
  }
  /** Return the place of a node. */
  ofNode(node) {
    return this.nodes.get(node) ?? this.broker;
  }
}
