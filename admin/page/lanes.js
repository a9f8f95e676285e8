// The lanes of the timeline: one a client, a connection or a producer, and where each is drawn.

// More are drawn as one lane, so that each stays wide enough to follow.
const LANES_MAX = 12;
const OTHERS = "others";

/** Return the name of a request's lane. by: "client", "connection" or "producer". */
export function laneOf(entry, by) {
  if (by === "client") return entry.client_id ?? "no client id";
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

/** The horizontal places of gutter, lanes and broker in a width. */
export class Columns {
  constructor(width, lanes) {
    this.isNarrow = width < NARROW;
    this.gutter = this.isNarrow ? GUTTER_NARROW : GUTTER;
    this.broker = Math.round(this.isNarrow ? width - 18 : width * (1 - DECISION_SHARE));
    this.width = width;
    const span = (this.broker - this.gutter) * (lanes.length > 4 ? 0.5 : 0.3);
    this.spacing = lanes.length > 1 ? span / (lanes.length - 1) : 0;
    this.places = new Map(lanes.map((name, number) => [name, Math.round(this.gutter + 14 + number * this.spacing)]));
  }

  /** Return the place of a lane; of one that is not drawn by itself, that of the others. */
  of(lane) {
    return this.places.get(lane) ?? this.places.get(OTHERS) ?? this.gutter + 14;
  }
}
