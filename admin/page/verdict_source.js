// Where the verdict views get verdicts from: a running broker, or the data of a report.

import { Refresher } from "./refresher.js";
import { groupSummaryOf, summaryOf } from "./findings.js";

// A verdict reads whole logs, and these are read on all views.
const REFRESH_MS = 2000;
const PAUSE_PER_READ = 19;

/**
 * The verdicts on all topics and groups of a running broker in short, the worst first. They are read again after new requests.
 * `summaries`, of topics, and `groups` are null until they are read; `error` is that of the last read, or null. `read(topic, eventId)` returns a
 * promise of one verdict. Calls its listeners after each change.
 */
export class Verdicts {
  constructor(api, journal) {
    this.api = api;
    this.hasEventIds = true;
    this.summaries = null;
    this.groups = null;
    this.error = null;
    this.listeners = new Set();
    const onError = (error) => this.changed({ error: error.message });
    const read = async () => this.changed({ summaries: worstFirst(await this.api.list("/v1/verdicts", Infinity)), error: null });
    const readGroups = async () => this.changed({ groups: worstFirst(await this.api.list("/v1/group-verdicts", Infinity)) });
    // Each waits for the time of its own reads.
    this.refreshers = [read, readGroups].map((work) => new Refresher(work, REFRESH_MS, onError, PAUSE_PER_READ));
    journal.listeners.add(() => this.ask());
  }

  /** Read again soon. */
  ask() {
    for (const refresher of this.refreshers) refresher.ask();
  }

  /** Keep what was read, and tell the listeners. */
  changed(read) {
    Object.assign(this, read);
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
  const unjudgedGroups = Object.entries(report.unjudged_groups ?? {}).map(([group, error]) => ({ group, findings: 0, kinds: {}, delivered: 0, error }));
  return {
    hasEventIds: false,
    summaries: worstFirst([...report.verdicts.map(summaryOf), ...unjudged]),
    groups: worstFirst([...(report.groups ?? []).map(groupSummaryOf), ...unjudgedGroups]),
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

/** Return a view that is drawn again when what it shows of the verdicts changes. summariesOf(): the summaries that it shows. */
export function withVerdicts(view, verdicts, summariesOf) {
  const drawn = () => JSON.stringify(summariesOf()?.map(({ topic, group, findings, error }) => [topic ?? group, findings, error]));
  let before = drawn();
  const redraw = () => {
    const now = drawn();
    if (now !== before) view.redraw();
    before = now;
  };
  verdicts.listeners.add(redraw);
  return {
    ...view,
    close() {
      verdicts.listeners.delete(redraw);
      view.close();
    },
  };
}

/** Return summaries with findings first, then those without a verdict; each by name. */
function worstFirst(summaries) {
  const nameOf = ({ topic, group }) => topic ?? group;
  const rankOf = ({ findings, error }) => (findings ? 0 : error !== null ? 1 : 2);
  return summaries.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || other.findings - one.findings || (nameOf(one) < nameOf(other) ? -1 : 1),
  );
}
