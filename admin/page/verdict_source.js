// Where the verdict views get verdicts from: a running broker, or the data of a report.

import { Refresher } from "./refresher.js";
import { summaryOf } from "./findings.js";

// A verdict reads whole logs, and these are read on all views.
const REFRESH_MS = 2000;
const PAUSE_PER_READ = 19;

/**
 * The verdicts on all topics of a running broker in short, the worst first. They are read again after new requests.
 * `summaries` is null until they are read; `error` is that of the last read, or null. `read(topic, eventId)` returns a
 * promise of one verdict. Calls its listeners after each change.
 */
export class Verdicts {
  constructor(api, journal) {
    this.api = api;
    this.hasEventIds = true;
    this.summaries = null;
    this.error = null;
    this.listeners = new Set();
    const onError = (error) => this.changed(this.summaries, error.message);
    this.refresher = new Refresher(() => this.readAll(), REFRESH_MS, onError, PAUSE_PER_READ);
    journal.listeners.add(() => this.refresher.ask());
  }

  /** Read again soon. */
  ask() {
    this.refresher.ask();
  }

  async readAll() {
    this.changed(worstFirst(await this.api.list("/v1/verdicts", Infinity)), null);
  }

  changed(summaries, error) {
    this.summaries = summaries;
    this.error = error;
    for (const listener of this.listeners) listener();
  }

  read(topic, eventId) {
    const of = `/v1/verdict?topic=${encodeURIComponent(topic)}`;
    return this.api.get(eventId === "" ? of : `${of}&event_id=${encodeURIComponent(eventId)}`);
  }
}

/** Return the verdicts that a report has, as Verdicts. */
export function verdictsIn(report) {
  const verdicts = new Map(report.verdicts.map((verdict) => [verdict.topic, verdict]));
  const problems = new Map(Object.entries(report.unjudged));
  const unjudged = [...problems].map(([topic, error]) => ({ topic, findings: 0, kinds: {}, error }));
  return {
    hasEventIds: false,
    summaries: worstFirst([...report.verdicts.map(summaryOf), ...unjudged]),
    error: null,
    listeners: new Set(),
    ask() {},
    async read(topic) {
      const verdict = verdicts.get(topic);
      if (verdict === undefined) throw new Error(problems.get(topic) ?? "This report has no verdict on the topic.");
      return verdict;
    },
  };
}

/** Return summaries with findings first, then those without a verdict; each by name. */
function worstFirst(summaries) {
  const rankOf = ({ findings, error }) => (findings ? 0 : error !== null ? 1 : 2);
  return summaries.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || other.findings - one.findings || (one.topic < other.topic ? -1 : 1),
  );
}
