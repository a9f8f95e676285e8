// The search for requests before those of the page, which the broker selects by the filter of the timeline.

import { hasConditions } from "./request_filter.js";

// A person types a condition in less.
const TYPING_MS = 300;
// Older requests that the page holds; the journal of the page has as many.
const OLDER_MAX = 10000;

/**
 * Finds older requests, for a timeline.
 *
 * - With a filter it searches by itself, newest first, and pauses after a page of requests. `more()` goes on.
 * - state: "none" (not searched), "searching", "partly" (more may be found) or "complete" (every kept request is searched).
 */
export class OlderSearch {
  /**
   * source: of a running broker, else undefined: `before(id, filter, signal)` returns a promise of `items`, oldest first, and
   * of `isComplete`. onChange(): called after a change of the state. onError(error): called if a search fails.
   */
  constructor(source, timeline, { onChange, onError }) {
    this.source = source;
    this.timeline = timeline;
    this.onChange = onChange;
    this.onError = onError;
    this.filter = {};
    this.state = "none";
    // Whether the page had no request when the search was to begin.
    this.isAwaiting = false;
    this.ended = new AbortController();
    this.timer = null;
  }

  /** Drop what was found, and search by another filter, if it has a condition. */
  begin(filter) {
    this.stop();
    this.filter = filter;
    this.isAwaiting = false;
    this.timeline.setOlder([]);
    if (this.source === undefined || !hasConditions(filter)) {
      this.change("none");
      return;
    }
    this.isAwaiting = this.firstId === undefined;
    this.change(this.hasOlder ? "searching" : "complete");
    if (this.hasOlder) this.timer = setTimeout(() => this.search(false), TYPING_MS);
  }

  /** Begin a search that waited for the first request of the page. */
  requestsCame() {
    if (this.isAwaiting && this.firstId !== undefined) this.begin(this.filter);
  }

  /** Search for the next page, and show its newest request. */
  more() {
    if (this.timeline.older.length < OLDER_MAX) return this.search(true);
    this.onError(new Error(`The page shows at most ${OLDER_MAX.toLocaleString("en")} earlier requests.`));
    return undefined;
  }

  /** Keep requests that the page has removed, so that no gap comes between the older ones and the others. */
  keep(removed) {
    if (this.state === "none") return;
    const older = [...this.timeline.older, ...removed];
    const over = older.length - OLDER_MAX;
    this.timeline.older = over > 0 ? older.slice(over) : older;
    if (over > 0 && this.state === "complete") this.state = "partly";
  }

  stop() {
    clearTimeout(this.timer);
    this.ended.abort();
  }

  get firstId() {
    return this.timeline.all[0]?.id;
  }

  /** Whether there may be requests before those of the page. */
  get hasOlder() {
    return this.source !== undefined && (this.firstId ?? 1) > 1;
  }

  async search(isShown) {
    this.stop();
    this.ended = new AbortController();
    const { signal } = this.ended;
    this.change("searching");
    try {
      // Among those that were found before are all between the first of them and the page.
      const { items, isComplete } = await this.source.before(this.timeline.older[0]?.id ?? this.firstId, this.filter, signal);
      if (signal.aborted) return;
      this.change(isComplete ? "complete" : "partly");
      if (items.length) this.timeline.setOlder([...items, ...this.timeline.older], isShown ? items.at(-1).id : null);
      this.onChange(items.length);
    } catch (error) {
      if (signal.aborted) return;
      this.change("partly");
      this.onError(error);
    }
  }

  change(state) {
    this.state = state;
    this.onChange();
  }
}
