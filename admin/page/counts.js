// How often each name occurs, kept while items come and go.

/** The counts of names in the order in which the names came first. */
export class Counts {
  constructor() {
    this.counts = new Map();
    // Grows when a name comes or goes.
    this.version = 0;
  }

  /** Add a number, which may be negative, to the count of a name. A name with the count 0 is removed. */
  add(name, by) {
    const before = this.counts.get(name);
    const after = (before ?? 0) + by;
    if (after === 0) this.counts.delete(name);
    else this.counts.set(name, after);
    if (before === undefined || after === 0) this.version += 1;
  }

  get names() {
    return [...this.counts.keys()];
  }
}
