// Where the verdict view gets verdicts from: a running broker, or the data of a report.

// A verdict reads whole logs.
const TOPICS_MAX = 50;

/** Return the verdicts of a running broker, for verdictView. */
export function verdictsOf(api) {
  return {
    hasEventIds: true,
    topicsMax: TOPICS_MAX,
    async topics(journal) {
      const existing = (await api.list("/v1/topics")).filter((topic) => !topic.internal).map(({ name }) => name);
      return [...new Set([...existing, ...sentTo(journal)])].sort();
    },
    read(topic, eventId) {
      const of = `/v1/verdict?topic=${encodeURIComponent(topic)}`;
      return api.get(eventId === "" ? of : `${of}&event_id=${encodeURIComponent(eventId)}`);
    },
  };
}

/** Return the topics of the batches in a journal: a deleted topic has a verdict, too. */
function sentTo(journal) {
  return journal.entries.flatMap((entry) => entry.batches.map((batch) => batch.topic));
}

/** Return the verdicts that a report has, for verdictView. */
export function verdictsIn(report) {
  const verdicts = new Map(report.verdicts.map((verdict) => [verdict.topic, verdict]));
  const problems = new Map(Object.entries(report.unjudged));
  return {
    hasEventIds: false,
    topicsMax: Infinity,
    topics: async () => [...verdicts.keys(), ...problems.keys()].sort(),
    async read(topic) {
      const verdict = verdicts.get(topic);
      if (verdict === undefined) throw new Error(problems.get(topic) ?? "This report has no verdict on the topic.");
      return verdict;
    },
  };
}
