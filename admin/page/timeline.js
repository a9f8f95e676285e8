// The timeline: a sequence diagram of the requests, one row each, of which only the visible ones are in the document.

import { element, fill, oncePerFrame, shape } from "./dom.js";
import { isSelected } from "./journal.js";
import { Columns, lanesOf } from "./lanes.js";
import { Overview } from "./overview.js";
import { timelineRow } from "./timeline_row.js";

// The height of a row at each step of the zoom.
const HEIGHTS = [3, 6, 12, 24, 46, 64];
const HEIGHT_DEFAULT = 4;
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
    // The newest request that was in view while the chart followed.
    this.seen = 0;
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
    const anchor = this.anchor();
    this.shown = this.journal.entries.filter((entry) => isSelected(entry, this.filter));
    this.lanes = lanesOf(this.shown, this.by);
    this.size();
    if (this.isFollowing) this.toEnd();
    else this.keepPlace(anchor);
    this.showNewer();
    this.root.classList.toggle("is-empty", this.shown.length === 0);
    this.onCount?.(this.shown.length, this.journal.entries.length);
    this.draw();
  }

  /** Return the first request in view and how far it is scrolled out, in rows; null without one. */
  anchor() {
    const rows = this.scroller.scrollTop / this.rowHeight;
    const entry = this.shown[Math.floor(rows)];
    return entry === undefined ? null : { id: entry.id, rest: rows % 1 };
  }

  /** Scroll so that the request of an anchor stays where it is; if it is gone, the next newer one does. */
  keepPlace(anchor) {
    if (anchor === null) return;
    const at = this.shown.findIndex(({ id }) => id >= anchor.id);
    if (at >= 0) this.scroller.scrollTop = (at + anchor.rest) * this.rowHeight;
  }

  size() {
    this.body.style.height = `${this.shown.length * this.rowHeight}px`;
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  follow() {
    this.isFollowing = true;
    this.toEnd();
    this.showNewer();
  }

  /** Tell how many requests have come since the newest one was in view. */
  showNewer() {
    if (this.isFollowing) this.seen = this.shown.at(-1)?.id ?? 0;
    const oldest = this.shown.findIndex(({ id }) => id > this.seen);
    this.newer.hidden = oldest < 0;
    this.newer.textContent = `${oldest < 0 ? 0 : this.shown.length - oldest} newer ↓`;
  }

  scrolled() {
    const left = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
    this.isFollowing = left <= END_PIXELS;
    if (this.isFollowing) this.showNewer();
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
      const row = old !== undefined && old.entry === entry ? old : this.row(entry, columns, height);
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

  row(entry, columns, height) {
    const row = timelineRow(entry, { columns, height, by: this.by, repeats: this.journal.repeats.get(entry.id) });
    row.entry = entry;
    row.setAttribute("aria-selected", String(entry.id === this.selected));
    row.setAttribute("aria-setsize", this.shown.length);
    return row;
  }
}
