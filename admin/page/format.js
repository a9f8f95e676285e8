// Numbers, times and batches as text.

/** @type {[string, number][]} */
const UNITS = [["d", 86400000], ["h", 3600000], ["min", 60000], ["s", 1000]];
// The greatest time of a Date; a client may send any number.
const TIME_MS_MAX = 8.64e15;

/** Return the time of day with milliseconds, in UTC as in the broker's log. */
export function timeText(ms) {
  if (ms < 0 || ms > TIME_MS_MAX) return dateText(ms);
  return new Date(ms).toISOString().slice(11, 23);
}

/** Return date and time, in UTC. */
export function dateText(ms) {
  if (ms > TIME_MS_MAX) return `${ms} ms`;
  return ms < 0 ? "none" : new Date(ms).toISOString().replace("T", " ").replace("Z", " UTC");
}

/** Return a length of time, such as "8 d", "2.5 s" or "40 ms". */
export function durationText(ms) {
  const size = Math.abs(ms);
  for (const [unit, length] of UNITS) {
    if (size >= length) return `${Math.round((ms / length) * 10) / 10} ${unit}`;
  }
  return `${ms} ms`;
}

/** Return a size, such as "1.2 MB". */
export function bytesText(bytes) {
  if (bytes === null) return "unknown";
  if (bytes < 1000) return `${bytes} B`;
  const steps = ["kB", "MB", "GB", "TB"];
  let size = bytes;
  let step = -1;
  while (size >= 1000 && step < steps.length - 1) {
    size /= 1000;
    step += 1;
  }
  return `${size.toFixed(1)} ${steps[step]}`;
}

/** Return a number with separators, and a noun in singular or plural. */
export function countText(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

/** Return first..last, or one number. */
export function rangeText(first, last) {
  return first === last ? String(first) : `${first}..${last}`;
}

/** Return the producer, epoch and sequences of a batch; how many records it has without a producer. */
export function batchText(batch) {
  if (batch.producer_id < 0) return batch.records < 0 ? "" : countText(batch.records, "record");
  const sequences = `sequence${batch.base_sequence === batch.last_sequence ? "" : "s"}`;
  return `producer ${batch.producer_id} epoch ${batch.producer_epoch} ${sequences} ${rangeText(batch.base_sequence, batch.last_sequence)}`;
}

/** Return the offset that a batch got, or why it got none, in a few words. */
export function decisionText(batch) {
  switch (batch.decision) {
    case "appended":
      return `appended at ${offsetsText(batch)}`;
    case "duplicate":
      return `duplicate of ${offsetsText(batch)}`;
    case "refused":
      return `refused: ${batch.error}`;
    default:
      return batch.error === null ? "not applied" : `not applied: ${batch.error}`;
  }
}

function offsetsText(batch) {
  if (batch.base_offset < 0) return "an unknown offset";
  const last = batch.base_offset + Math.max(batch.records, 1) - 1;
  return `offset${batch.records > 1 ? "s" : ""} ${rangeText(batch.base_offset, last)}`;
}

/** Return what a request is about: topics and partitions of its batches, else its topics, groups and ids. */
export function subjectText(entry) {
  const places = entry.batches.map((batch) => `${batch.topic}-${batch.partition}`);
  const names = places.length ? places : [...entry.topics, ...entry.group_ids.map((id) => `group ${id}`)];
  if (entry.transactional_id !== null) names.push(`transactional id ${entry.transactional_id}`);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
