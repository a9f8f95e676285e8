// The timeline: a sequence diagram of the requests, one row each, of which only the visible ones are in the document.

import { element, paced, shape } from "./dom.js";
import { firstFrom } from "./journal.js";
import { drawLaneHeads } from "./lane_heads.js";
import { Columns } from "./lanes.js";
import { Overview } from "./overview.js";
import { isSelected } from "./request_filter.js";
import { ShownRequests } from "./shown_requests.js";
import { markLines } from "./timeline_marks.js";
import { timelineRow } from "./timeline_row.js";

// The height of a row at each step of the zoom.
const HEIGHTS = [3, 6, 12, 24, 46, 64];
const HEIGHT_DEFAULT = 4;
// Rows above and below the visible ones, drawn so that a quick scroll shows no gap. None while the chart follows, and in
// the frame of a jump: all of them would be new ones.
const MARGIN_ROWS = 6;
// New requests are drawn this often; the other one if so many come that each time all rows in view are new.
const UPDATE_MS = 250;
const BUSY_UPDATE_MS = 500;
// Changes that wait for a frame. With more, all requests are selected again.
const CHANGES_MAX = 100;
// A chart that is scrolled to within this of its end follows new requests.
const END_PIXELS = 40;

/**
 * The rows of the requests that a filter selects. `onSelect(entry)` is called when one is chosen.
 *
 * - The chart is changed in one step of a frame, `update()`: the requests, the height, the rows, the scroll position. A frame
 *   in which one of them is older than the others would be blank.
 * - A paused timeline keeps its requests, also when the journal has removed them.
 */
export class Timeline {
  constructor(journal, onSelect) {
    this.journal = journal;
    this.onSelect = onSelect;
    /** @type {((shown: number) => void) | null} called with the number of shown requests after each change */
    this.onCount = null;
    this.requests = new ShownRequests();
    this.zoom = HEIGHT_DEFAULT;
    this.rows = new Map();
    this.selected = null;
    this.isFollowing = true;
    // The id of the request that stays in the middle until a person scrolls; null for none.
    this.centred = null;
    // All requests of the journal at the moment of the pause; null while the timeline is live.
    this.paused = null;
    // Requests before those of the journal that the filter selects.
    this.older = [];
    /** @type {((removed: any[]) => void) | null} called with requests that the filter selects and the journal has removed */
    this.onRemoved = null;
    // Changes of the journal since the last update; null if all requests must be selected again.
    this.changes = null;
    // Whether the last update had more new requests than are in view.
    this.isBusy = false;
    // The newest request that was in view while the chart followed.
    this.seen = 0;
    // Of the chart, in pixels. They are kept here because reading them from the document costs a layout.
    this.top = 0;
    // Where the rows were drawn last.
    this.drawnTop = 0;
    this.width = 0;
    this.height = 0;
    this.build();
    this.draw = paced(() => this.render(), () => 0);
    this.updateSoon = paced(() => this.update(), () => (this.isBusy ? BUSY_UPDATE_MS : UPDATE_MS));
    this.resized = new ResizeObserver(() => this.measure());
    this.resized.observe(this.scroller);
    this.changed = (change) => this.received(change);
    journal.listeners.add(this.changed);
    this.update();
  }

  build() {
    this.heads = element("div", { class: "lane-heads", "aria-hidden": "true" });
    this.lifelines = shape("svg", { class: "lifelines", "aria-hidden": "true" });
    this.body = element("div", { class: "rows" });
    this.marks = element("div", { class: "marks", role: "none" });
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
      this.marks,
    );
    this.newer = element("button", { type: "button", class: "newer", hidden: true, on: { click: () => this.follow() } });
    this.overview = new Overview((share) => this.scrollTo(share * this.requests.entries.length * this.rowHeight - this.height / 2));
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
    this.journal.listeners.delete(this.changed);
    this.resized.disconnect();
  }

  get rowHeight() {
    return HEIGHTS[this.zoom];
  }

  /** All requests that a filter selects from. */
  get all() {
    return this.paused ?? this.journal.entries;
  }

  setFilter(filter) {
    this.older = [];
    this.requests.filter = filter;
    this.selectAgain();
  }

  setLanes(by) {
    this.requests.by = by;
    this.selectAgain();
  }

  /** Keep the requests that are shown now, or follow the journal again. */
  setPaused(isPaused) {
    this.paused = isPaused ? [...this.journal.entries] : null;
    this.selectAgain();
  }

  /** Have these requests before the others. shownId: of the one to show at the bottom; null for none. */
  setOlder(older, shownId = null) {
    this.older = older;
    if (shownId !== null) this.isFollowing = false;
    this.selectAgain();
    if (shownId !== null) this.scrollTo(firstFrom(this.requests.entries, shownId + 1) * this.rowHeight - this.height);
  }

  selectAgain() {
    this.changes = null;
    this.rows.clear();
    this.update();
  }

  /** Zoom by steps; the request in the middle stays there. */
  setZoom(step) {
    const zoom = Math.min(HEIGHTS.length - 1, Math.max(0, step));
    if (zoom === this.zoom) return;
    const middle = (this.top + this.height / 2) / this.rowHeight;
    this.zoom = zoom;
    this.rows.clear();
    this.moveTo(this.isFollowing ? Infinity : middle * this.rowHeight - this.height / 2);
  }

  received(change) {
    if (change.isCleared) this.older = [];
    else if (this.paused === null && change.removed.length) this.onRemoved?.(change.removed.filter((entry) => isSelected(entry, this.requests.filter)));
    if (change.removed.length && this.older.length) this.changes = null;
    if (this.changes?.length === CHANGES_MAX) this.changes = null;
    this.changes?.push(change);
    this.updateSoon();
  }

  /** Take the changes of the journal, and draw. The texts come first: all of a frame is one layout. */
  update() {
    const anchor = this.anchor();
    const isDue = this.paused === null || this.changes === null;
    if (isDue) this.takeChanges();
    this.showNewer();
    this.root.classList.toggle("is-empty", this.requests.entries.length === 0);
    this.onCount?.(this.requests.entries.length);
    if (isDue) this.moveTo(this.placeOf(anchor));
  }

  takeChanges() {
    const newest = this.requests.entries.at(-1)?.id ?? 0;
    if (this.changes === null) this.requests.reset(this.all, this.older);
    else for (const change of this.changes) this.requests.apply(change);
    this.changes = [];
    const { entries } = this.requests;
    this.isBusy = (entries.length - firstFrom(entries, newest + 1)) * this.rowHeight > this.height;
  }

  /** Return the first request in view and how far it is scrolled out, in rows; null without one. */
  anchor() {
    const rows = this.top / this.rowHeight;
    const entry = this.requests.entries[Math.floor(rows)];
    return entry === undefined ? null : { id: entry.id, rest: rows % 1 };
  }

  /** Return where the chart belongs: at its end, with a request in the middle, or with that of an anchor, or the next newer one, at its place. */
  placeOf(anchor) {
    if (this.isFollowing) return Infinity;
    const middle = this.requests.indexOf(this.centred);
    if (middle >= 0) return (middle + 0.5) * this.rowHeight - this.height / 2;
    return anchor === null ? this.top : (firstFrom(this.requests.entries, anchor.id) + anchor.rest) * this.rowHeight;
  }

  /** Scroll to a place in pixels, or to the nearest one, and draw. */
  moveTo(top) {
    const height = this.requests.entries.length * this.rowHeight;
    // In whole pixels, as the document keeps it: another place was scrolled to by a person.
    this.top = Math.round(Math.max(0, Math.min(top, height - this.height)));
    this.body.style.height = `${height}px`;
    this.render();
    this.scroller.scrollTop = this.top;
  }

  follow() {
    this.isFollowing = true;
    this.moveTo(Infinity);
    this.showNewer();
  }

  /** Show how many requests have come since the newest one was in view. */
  showNewer() {
    const { entries } = this.requests;
    if (this.isFollowing) this.seen = entries.at(-1)?.id ?? 0;
    const newer = entries.length - firstFrom(entries, this.seen + 1);
    this.newer.hidden = newer === 0;
    this.newer.textContent = `${newer} newer ↓`;
  }

  scrolled() {
    const { scrollTop } = this.scroller;
    // The chart has scrolled itself, and is drawn.
    if (scrollTop === this.top) return;
    this.top = scrollTop;
    this.centred = null;
    this.isFollowing = this.requests.entries.length * this.rowHeight - this.top - this.height <= END_PIXELS;
    if (this.isFollowing) this.showNewer();
    this.draw();
  }

  /** Read the size of the chart. */
  measure() {
    this.width = this.scroller.clientWidth;
    this.height = this.scroller.clientHeight;
    this.moveTo(this.placeOf(null));
  }

  wheeled(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.setZoom(this.zoom + (event.deltaY < 0 ? 1 : -1));
  }

  pressed(event) {
    const page = Math.max(1, Math.floor(this.height / this.rowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) {
      event.preventDefault();
      this.move(moves[event.key]);
    } else if (event.key === "+" || event.key === "=") {
      this.setZoom(this.zoom + 1);
    } else if (event.key === "-") {
      this.setZoom(this.zoom - 1);
    } else if (event.key === "Enter" && this.selected !== null) {
      this.choose(this.find(this.selected));
    }
  }

  move(by) {
    const { entries } = this.requests;
    if (!entries.length) return;
    const now = this.requests.indexOf(this.selected);
    const from = now < 0 ? (by > 0 ? -1 : entries.length) : now;
    this.choose(this.find(entries[Math.min(entries.length - 1, Math.max(0, from + by))].id));
  }

  /** Return a request as it is now, or undefined; a paused timeline has those that the journal has removed, too. */
  find(id) {
    return this.journal.find(id) ?? this.requests.entries[this.requests.indexOf(id)];
  }

  clicked(event) {
    const link = event.target.closest("[data-jump]");
    const row = event.target.closest("[data-id]");
    if (link !== null) this.jump(Number(link.dataset.jump));
    else if (row !== null) this.choose(this.find(Number(row.dataset.id)));
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
    const at = this.requests.indexOf(id);
    const top = at * this.rowHeight;
    const isInView = top >= this.top && top + this.rowHeight <= this.top + this.height;
    this.choose(this.find(id));
    if (at >= 0 && !isInView) this.scrollTo(top - (this.height - this.rowHeight) / 2);
  }

  /** Select a request by its id, and keep it in the middle, whatever comes and goes, until a person scrolls. */
  centre(id) {
    this.choose(this.find(id));
    if (this.requests.indexOf(id) < 0) return;
    this.isFollowing = false;
    this.centred = id;
    this.moveTo(this.placeOf(null));
    this.showNewer();
  }

  mark(id) {
    this.rows.get(this.selected)?.setAttribute("aria-selected", "false");
    this.selected = id;
    this.rows.get(id)?.setAttribute("aria-selected", "true");
    this.scroller.setAttribute("aria-activedescendant", `request-${id}`);
  }

  show(id) {
    const at = this.requests.indexOf(id);
    if (at < 0) return;
    // The panel may have made the chart smaller.
    this.measure();
    const top = at * this.rowHeight;
    if (top < this.top) this.scrollTo(top);
    else if (top + this.rowHeight > this.top + this.height) this.scrollTo(top + this.rowHeight - this.height);
  }

  /** Scroll to a place that a person chose. */
  scrollTo(top) {
    this.scroller.scrollTop = top;
    this.scrolled();
    this.render();
  }

  /** Draw the rows in view. */
  render() {
    if (!this.width) return;
    const { entries, lanes } = this.requests;
    const { nodes } = this.journal;
    const columns = new Columns(this.width, lanes, nodes.counts.size > 1 ? nodes.names.sort((one, other) => one - other) : []);
    const key = JSON.stringify([this.width, lanes, [...columns.nodes]]);
    if (key !== this.columnsKey) {
      this.columnsKey = key;
      this.rows.clear();
      drawLaneHeads(this.heads, this.lifelines, lanes, columns);
    }
    const height = this.rowHeight;
    const isJump = Math.abs(this.top - this.drawnTop) > this.height;
    const margin = this.isFollowing || isJump ? 0 : MARGIN_ROWS;
    this.drawnTop = this.top;
    // The margin is drawn when the chart stands.
    if (isJump) this.draw();
    const first = Math.max(0, Math.floor(this.top / height) - margin);
    const last = Math.min(entries.length, Math.ceil((this.top + this.height) / height) + margin);
    const rows = new Map();
    for (let at = first; at < last; at += 1) {
      const entry = entries[at];
      const old = this.rows.get(entry.id);
      const row = old !== undefined && old.entry === entry ? old : this.row(entry, columns, height);
      row.style.top = `${at * height}px`;
      row.setAttribute("aria-posinset", at + 1);
      rows.set(entry.id, row);
    }
    this.rows = rows;
    const present = new Set(rows.values());
    for (const row of [...this.body.children]) if (!present.has(row)) row.remove();
    // In their order, in which a screen reader reads them.
    let following = this.body.firstChild;
    for (const row of present) {
      if (row === following) following = row.nextSibling;
      else this.body.insertBefore(row, following);
    }
    this.marks.replaceChildren(...markLines(this.journal.marks, { entries, first, last, height }));
    const whole = entries.length * height;
    this.overview.draw(this.requests, this.height, { start: this.top / whole, share: this.height / whole });
  }

  row(entry, columns, height) {
    const row = timelineRow(entry, { columns, height, by: this.requests.by, repeats: this.journal.repeats.get(entry.id) });
    row.entry = entry;
    row.setAttribute("aria-selected", String(entry.id === this.selected));
    row.setAttribute("aria-setsize", this.requests.entries.length);
    return row;
  }
}
