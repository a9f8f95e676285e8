// What a person searches for, as the API has it.

import { timeOf, wholeNumberOf } from "./time_text.js";

// A greater number is a time in ms, of 1973 and later.
const OFFSET_MAX = 1e11;

/** Return the body of a search; null if `from` is neither an offset nor a time. An empty text searches for nothing. */
export function searchBody({ where, match, wanted, order, from }) {
  const body = { order };
  if (where.trim() !== "") body.in = where.trim();
  if (wanted !== "") body[match] = wanted;
  if (from.trim() === "") return body;
  const number = wholeNumberOf(from);
  if (number !== null && number >= 0 && number < OFFSET_MAX) return { ...body, from_offset: number };
  const ms = timeOf(from);
  return ms === null || ms < 0 ? null : { ...body, from_ms: ms };
}
