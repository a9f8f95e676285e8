// Where the verdict view gets verdicts from: a running broker, or the data of a report.

/** Return the verdicts of a running broker, for verdictView. */
export function verdictsOf(api) {
  return {
    hasEventIds: true,
    topics: async () => (await api.list("/v1/topics")).filter((topic) => !topic.internal).map(({ name }) => name),
    read(topic, eventId) {
      const of = `/v1/verdict?topic=${encodeURIComponent(topic)}`;
      return api.get(eventId === "" ? of : `${of}&event_id=${encodeURIComponent(eventId)}`);
    },
  };
}

/** Return the verdicts that a report has, for verdictView. */
export function verdictsIn(report) {
  const verdicts = new Map(report.verdicts.map((verdict) => [verdict.topic, verdict]));
  const problems = new Map(Object.entries(report.unjudged));
  return {
    hasEventIds: false,
    topics: async () => [...verdicts.keys(), ...problems.keys()].sort(),
    async read(topic) {
      const verdict = verdicts.get(topic);
      if (verdict === undefined) throw new Error(problems.get(topic) ?? "This report has no verdict on the topic.");
      return verdict;
    },
  };
}
