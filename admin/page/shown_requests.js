// The requests that the timeline shows: those that a filter selects, and their lanes. Kept while requests come and go.

import { Counts } from "./counts.js";
import { firstFrom, indexOf } from "./journal.js";
import { laneOf, lanesOf } from "./lanes.js";
import { isSelected } from "./request_filter.js";

/** The selected requests, oldest first. */
export class ShownRequests {
  constructor() {
    this.entries = [];
    this.filter = {};
    // What there is a lane per: one of LANES.
    this.by = "client";
    this.counts = new Counts();
    // Grows with each change of the requests.
    this.version = 0;
  }

  /** The names of the lanes. */
  get lanes() {
    return lanesOf(this.counts.counts);
  }

  /**
   * Select among all requests again, because filter or lanes changed.
   * older: requests before them that the broker has selected.
   */
  reset(all, older = []) {
    this.entries = [...older, ...all.filter((entry) => isSelected(entry, this.filter))];
    this.counts = new Counts();
    for (const entry of this.entries) this.counts.add(laneOf(entry, this.by), 1);
    this.version += 1;
  }

  /** Apply a change of the journal. */
  apply({ added, replaced, removed }) {
    for (const entry of added) {
      if (!isSelected(entry, this.filter)) continue;
      this.entries.push(entry);
      this.counts.add(laneOf(entry, this.by), 1);
    }
    for (const [, entry] of replaced) this.replace(entry);
    if (removed.length) {
      const gone = this.entries.splice(0, firstFrom(this.entries, removed.at(-1).id + 1));
      for (const entry of gone) this.counts.add(laneOf(entry, this.by), -1);
    }
    this.version += 1;
  }

  /** Return the place of a request; -1 if it is not shown. */
  indexOf(id) {
    return indexOf(this.entries, id);
  }

  replace(entry) {
    const at = firstFrom(this.entries, entry.id);
    const old = this.entries[at]?.id === entry.id ? this.entries[at] : null;
    const isShown = isSelected(entry, this.filter);
    if (old !== null) this.counts.add(laneOf(old, this.by), -1);
    if (isShown) this.counts.add(laneOf(entry, this.by), 1);
    this.entries.splice(at, old === null ? 0 : 1, ...(isShown ? [entry] : []));
  }
}
