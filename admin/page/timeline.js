// The timeline: a sequence diagram of the requests, one row each, of which only the visible ones are in the document.

import { element, fill, oncePerFrame, shape } from "./dom.js";
import { batchText, decisionText, subjectText, timeText } from "./format.js";
import { familyOf, isSelected, statusOf, toneOf } from "./journal.js";
import { Columns, laneOf, lanesOf } from "./lanes.js";
import { Overview } from "./overview.js";

// The height of a row at each step of the zoom; labels fit from LABELS_FROM on, both arrows from ARROWS_FROM on.
const HEIGHTS = [3, 6, 12, 24, 46, 64];
const HEIGHT_DEFAULT = 4;
const LABELS_FROM = 24;
const ARROWS_FROM = 46;
// Rows above and below the visible ones, drawn so that a quick scroll shows no gap.
const MARGIN_ROWS = 6;
// A chart that is scrolled to within this of its end follows new requests.
const END_PIXELS = 40;
// Lanes that are nearer have their names at two heights.
const SPACING_MIN = 72;

/** The rows of the requests that a filter selects. `onSelect(entry)` is called when one is chosen. */
export class Timeline {
  constructor(journal, onSelect) {
    this.journal = journal;
    this.onSelect = onSelect;
    this.filter = {};
    this.by = "client";
    this.zoom = HEIGHT_DEFAULT;
    this.shown = [];
    this.rows = new Map();
    this.selected = null;
    this.isFollowing = true;
    this.build();
    this.draw = oncePerFrame(() => this.render());
    this.update = oncePerFrame(() => this.select());
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.scroller);
    journal.listeners.add(this.update);
    this.select();
  }

  build() {
    this.heads = element("div", { class: "lane-heads", "aria-hidden": "true" });
    this.lifelines = shape("svg", { class: "lifelines", "aria-hidden": "true" });
    this.body = element("div", { class: "rows" });
    this.scroller = element(
      "div",
      {
        class: "chart",
        role: "listbox",
        tabindex: 0,
        "aria-label": "Requests, oldest first",
        on: {
          scroll: () => this.scrolled(),
          keydown: (event) => this.pressed(event),
          wheel: (event) => this.wheeled(event),
          click: (event) => this.clicked(event),
        },
      },
      this.body,
    );
    this.newer = element("button", { type: "button", class: "newer", hidden: true, on: { click: () => this.follow() } });
    this.overview = new Overview((share) => this.scrollTo(share));
    this.root = element(
      "div",
      { class: "timeline" },
      this.heads,
      element(
        "div",
        { class: "chart-and-overview" },
        element("div", { class: "chart-frame" }, this.lifelines, this.scroller),
        this.overview.root,
      ),
      this.newer,
    );
  }

  /** Stop to listen to the journal. */
  close() {
    this.journal.listeners.delete(this.update);
    this.resized.disconnect();
  }

  get rowHeight() {
    return HEIGHTS[this.zoom];
  }

  setFilter(filter) {
    this.filter = filter;
    this.rows.clear();
    this.select();
  }

  setLanes(by) {
    this.by = by;
    this.rows.clear();
    this.select();
  }

  /** Zoom by steps; the request in the middle stays there. */
  setZoom(step) {
    const zoom = Math.min(HEIGHTS.length - 1, Math.max(0, step));
    if (zoom === this.zoom) return;
    const middle = (this.scroller.scrollTop + this.scroller.clientHeight / 2) / this.rowHeight;
    this.zoom = zoom;
    this.rows.clear();
    this.size();
    if (this.isFollowing) this.toEnd();
    else this.scroller.scrollTop = middle * this.rowHeight - this.scroller.clientHeight / 2;
    this.draw();
  }

  select() {
    const before = this.shown.length;
    const oldest = this.shown[0];
    const wasAt = this.scroller.scrollTop / this.rowHeight;
    this.shown = this.journal.entries.filter((entry) => isSelected(entry, this.filter));
    this.lanes = lanesOf(this.shown, this.by);
    this.size();
    if (this.isFollowing) {
      this.toEnd();
    } else {
      // Requests that were removed at the beginning do not move what is seen.
      const removed = oldest === undefined ? 0 : Math.max(0, before - this.shown.length);
      if (removed && this.shown[0]?.id > oldest.id) this.scroller.scrollTop = Math.max(0, wasAt - removed) * this.rowHeight;
      this.showNewer(this.shown.length - before);
    }
    this.root.classList.toggle("is-empty", this.shown.length === 0);
    this.onCount?.(this.shown.length, this.journal.entries.length);
    this.draw();
  }

  size() {
    this.body.style.height = `${this.shown.length * this.rowHeight}px`;
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  follow() {
    this.isFollowing = true;
    this.newer.hidden = true;
    this.unseen = 0;
    this.toEnd();
  }

  showNewer(count) {
    this.unseen = (this.unseen ?? 0) + Math.max(0, count);
    this.newer.hidden = this.unseen === 0;
    this.newer.textContent = `${this.unseen} newer ↓`;
  }

  scrolled() {
    const left = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
    this.isFollowing = left <= END_PIXELS;
    if (this.isFollowing) {
      this.unseen = 0;
      this.newer.hidden = true;
    }
    this.draw();
  }

  scrollTo(share) {
    this.scroller.scrollTop = share * this.scroller.scrollHeight - this.scroller.clientHeight / 2;
  }

  wheeled(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.setZoom(this.zoom + (event.deltaY < 0 ? 1 : -1));
  }

  pressed(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) {
      event.preventDefault();
      this.move(moves[event.key]);
    } else if (event.key === "+" || event.key === "=") {
      this.setZoom(this.zoom + 1);
    } else if (event.key === "-") {
      this.setZoom(this.zoom - 1);
    } else if (event.key === "Enter" && this.selected !== null) {
      this.choose(this.journal.find(this.selected));
    }
  }

  move(by) {
    if (!this.shown.length) return;
    const now = this.shown.findIndex((entry) => entry.id === this.selected);
    const from = now < 0 ? (by > 0 ? -1 : this.shown.length) : now;
    this.choose(this.shown[Math.min(this.shown.length - 1, Math.max(0, from + by))]);
  }

  clicked(event) {
    const link = event.target.closest("[data-jump]");
    const row = event.target.closest("[data-id]");
    if (link !== null) this.jump(Number(link.dataset.jump));
    else if (row !== null) this.choose(this.journal.find(Number(row.dataset.id)));
  }

  /** Select a request, show it, and tell it. */
  choose(entry) {
    if (entry === undefined) return;
    this.mark(entry.id);
    this.onSelect(entry);
    // After the panel has opened: on a narrow screen it takes a part of the height.
    this.show(entry.id);
  }

  /** Select a request by its id, also if the filter hides it. One out of view is shown with the requests around it. */
  jump(id) {
    const at = this.shown.findIndex((entry) => entry.id === id);
    const { scrollTop, clientHeight } = this.scroller;
    const top = at * this.rowHeight;
    const isInView = top >= scrollTop && top + this.rowHeight <= scrollTop + clientHeight;
    this.choose(this.journal.find(id));
    if (at < 0 || isInView) return;
    this.scroller.scrollTop = top - (this.scroller.clientHeight - this.rowHeight) / 2;
    this.render();
  }

  mark(id) {
    this.rows.get(this.selected)?.setAttribute("aria-selected", "false");
    this.selected = id;
    this.rows.get(id)?.setAttribute("aria-selected", "true");
    this.scroller.setAttribute("aria-activedescendant", `request-${id}`);
  }

  show(id) {
    const at = this.shown.findIndex((entry) => entry.id === id);
    if (at < 0) return;
    const top = at * this.rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight) this.scroller.scrollTop = top + this.rowHeight - clientHeight;
    this.render();
  }

  render() {
    const width = this.body.clientWidth;
    if (!width) return;
    const columns = new Columns(width, this.lanes);
    const key = JSON.stringify([width, this.lanes]);
    if (key !== this.columnsKey) {
      this.columnsKey = key;
      this.rows.clear();
      this.renderHeads(columns);
    }
    const height = this.rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / height) - MARGIN_ROWS);
    const last = Math.min(this.shown.length, Math.ceil((scrollTop + clientHeight) / height) + MARGIN_ROWS);
    const rows = new Map();
    for (let at = first; at < last; at += 1) {
      const entry = this.shown[at];
      const old = this.rows.get(entry.id);
      const row = old !== undefined && old.entry === entry ? old : this.row(entry, columns);
      row.style.top = `${at * height}px`;
      row.setAttribute("aria-posinset", at + 1);
      rows.set(entry.id, row);
    }
    this.rows = rows;
    const present = new Set(rows.values());
    for (const row of [...this.body.children]) if (!present.has(row)) row.remove();
    for (const row of present) if (row.parentNode !== this.body) this.body.append(row);
    this.overview.draw(this.shown, scrollTop / this.scroller.scrollHeight, clientHeight / this.scroller.scrollHeight);
  }

  renderHeads(columns) {
    const isStaggered = this.lanes.length > 1 && columns.spacing < SPACING_MIN;
    this.heads.classList.toggle("is-staggered", isStaggered);
    const heads = this.lanes.map((name) => {
      const head = element("span", { class: "lane-head", title: name }, name);
      head.style.left = `${columns.of(name)}px`;
      head.style.maxWidth = `${Math.max(28, (isStaggered ? 2 : 1) * columns.spacing || 220)}px`;
      return head;
    });
    const broker = element("span", { class: "lane-head broker" }, "broker");
    broker.style.left = `${columns.broker}px`;
    fill(this.heads, this.lanes.length ? [...heads, broker] : []);
    const lines = [...this.lanes.map((name) => columns.of(name)), columns.broker];
    fill(this.lifelines, lines.map((x) => shape("line", { x1: x, x2: x, y1: 0, y2: "100%" })));
  }

  row(entry, columns) {
    const height = this.rowHeight;
    const status = statusOf(entry);
    const row = element("div", {
      class: `row is-${status} tone-${toneOf(entry, status)}`,
      role: "option",
      id: `request-${entry.id}`,
      "data-id": entry.id,
      "aria-selected": String(entry.id === this.selected),
      "aria-setsize": this.shown.length,
      // A row with labels is named by them.
      "aria-label": height < LABELS_FROM ? spokenText(entry) : null,
    });
    row.entry = entry;
    row.style.height = `${height}px`;
    const from = columns.of(laneOf(entry, this.by));
    row.append(height < LABELS_FROM ? bar(from, columns, height) : this.arrows(entry, from, columns, height));
    if (height >= LABELS_FROM) row.append(...this.labels(entry, from, columns));
    return row;
  }

  arrows(entry, from, columns, height) {
    const isTall = height >= ARROWS_FROM;
    const there = isTall ? Math.round(height * 0.42) : Math.round(height / 2) + 6;
    const back = Math.round(height * 0.84);
    const isReceived = !entry.faults.some((fault) => fault.point === "received" && isCut(fault));
    const parts = [arrow(from, isReceived ? columns.broker : (from + columns.broker) / 2, there, "request")];
    if (!isReceived) parts.push(cross((from + columns.broker) / 2, there));
    if (isTall) parts.push(...response(entry, columns.broker, from, back));
    for (const [number, fault] of entry.faults.entries()) parts.push(marker(fault, number, from, columns.broker, there, back, isTall));
    return shape("svg", { class: "arrows", width: columns.width, height, "aria-hidden": "true" }, parts);
  }

  labels(entry, from, columns) {
    const repeats = this.journal.repeats.get(entry.id);
    const label = element(
      "span",
      { class: "label" },
      element(
        "span",
        { class: "what" },
        element("b", {}, entry.api),
        ` ${subjectText(entry)}`,
        element("span", { class: "sequences" }, entry.batches.length === 1 ? ` ${batchText(entry.batches[0])}` : ""),
      ),
      repeats === undefined ? null : element("span", { class: "repeat", "data-jump": repeats }, `↻ repeats ${repeats}`),
    );
    label.style.left = `${from + 8}px`;
    label.style.width = `${columns.broker - from - 16}px`;
    const time = element("span", { class: "when" }, columns.isNarrow ? timeText(entry.at_ms).slice(3) : timeText(entry.at_ms));
    const decision = element("span", { class: "decision", title: decisionsText(entry) }, decisionsText(entry));
    if (columns.isNarrow) {
      decision.style.right = "22px";
      decision.style.left = `${from + 8}px`;
    } else {
      decision.style.left = `${columns.broker + 10}px`;
      decision.classList.toggle("is-tall", this.rowHeight >= ARROWS_FROM);
    }
    return [time, label, decision];
  }
}

function isCut(fault) {
  return familyOf(fault.kind) === "cut" && fault.kind !== "crash";
}

function bar(from, columns, height) {
  const made = element("span", { class: "bar" });
  made.style.left = `${from}px`;
  made.style.width = `${columns.broker - from}px`;
  made.style.height = `${Math.max(1, height - 1)}px`;
  return made;
}

function arrow(from, to, y, kind) {
  const head = to > from ? -6 : 6;
  return shape(
    "g",
    { class: `arrow ${kind}` },
    shape("line", { x1: from, x2: to, y1: y, y2: y }),
    shape("path", { d: `M${to} ${y}l${head} -3.5v7z` }),
  );
}

function cross(x, y) {
  return shape("path", { class: "cross", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` });
}

/** Return the response's arrow: crossed out where it broke off, dotted while it is awaited, none if none is owed. */
function response(entry, broker, lane, y) {
  if (entry.answer === "not_owed") return [];
  if (entry.answer === "waiting") return [shape("line", { class: "arrow waiting", x1: broker, x2: lane, y1: y, y2: y })];
  if (entry.answer === "written") return [arrow(broker, lane, y, entry.error === null ? "response" : "response error")];
  const end = broker - (broker - lane) * 0.4;
  return [shape("line", { class: "arrow lost", x1: broker, x2: end, y1: y, y2: y }), cross(end, y)];
}

/** Return the mark of a fault at its point: on the way to the broker, at the broker, or on the way back. */
function marker(fault, number, lane, broker, there, back, isTall) {
  const places = {
    accepted: [lane, there],
    received: [broker - 26, there],
    applied: [broker, isTall ? (there + back) / 2 : there],
    answering: [broker - 26, isTall ? back : there],
  };
  const [x, y] = places[fault.point] ?? places.applied;
  const mark = shape("circle", { class: `fault is-${familyOf(fault.kind)}`, cx: x - number * 12, cy: y, r: 5.5 });
  mark.append(shape("title", {}, `rule ${fault.rule}: ${fault.kind} at ${fault.point}`));
  return mark;
}

/** Return what the broker decided, with the fault that changed it. */
export function decisionsText(entry) {
  const faults = entry.faults.map((fault) => `${fault.kind} by rule ${fault.rule}`);
  const batches = entry.batches.slice(0, 2).map(decisionText);
  if (entry.batches.length > 2) batches.push(`${entry.batches.length - 2} more batches`);
  const parts = [...batches, ...faults];
  if (entry.error !== null && !parts.some((part) => part.includes(entry.error))) parts.push(entry.error);
  if (entry.answer === "waiting") parts.push("awaits its response");
  if (entry.answer === "not_written") parts.push("no response");
  return parts.join(" · ");
}

function spokenText(entry) {
  const decided = decisionsText(entry);
  return `Request ${entry.id}, ${entry.api} ${subjectText(entry)}${decided ? `, ${decided}` : ""}`;
}
