// Numbers and times that a person types.

/** Return a whole number; null if the text is none. */
export function wholeNumberOf(text) {
  return /^[+-]?\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}

/** Return a time in ms: of a number, or of a date that is in UTC if it names no zone; null if the text is neither. */
export function timeOf(text) {
  const number = wholeNumberOf(text);
  if (number !== null) return number;
  const date = text.trim().replace(" UTC", "Z").replace(/^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)/, "$1T$2");
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(date) || !date.includes("T") ? date : `${date}Z`);
  return Number.isNaN(ms) ? null : ms;
}
