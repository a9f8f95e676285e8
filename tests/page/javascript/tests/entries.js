// Requests of a journal, as the admin API returns them.

/** Return a request. changes: fields that differ from those of a written Produce. */
export function entryOf(id, changes = {}) {
  return {
    id,
    at_ms: 1000 * id,
    api: "Produce",
    client_id: "shop",
    connection: 1,
    node: 1,
    topics: ["orders"],
    group_ids: [],
    transactional_id: null,
    batches: [],
    faults: [],
    answer: "written",
    error: null,
    ...changes,
  };
}

/** Return requests with the ids from first to last. */
export function entriesOf(first, last, changes = {}) {
  return Array.from({ length: last - first + 1 }, (_, number) => entryOf(first + number, changes));
}

/** Return a batch of an idempotent producer. */
export function batchOf(sequence, changes = {}) {
  return {
    topic: "orders",
    partition: 0,
    producer_id: 7,
    producer_epoch: 0,
    base_sequence: sequence,
    last_sequence: sequence,
    base_offset: sequence,
    records: 1,
    decision: "appended",
    error: null,
    ...changes,
  };
}
