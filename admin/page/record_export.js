// Records to copy and to download: as JSON, or the bytes of a key or value.

import { element } from "./dom.js";
import { bytesOf } from "./record_text.js";

/** Return records as JSON, as the API has them. */
export function recordsText(records) {
  return JSON.stringify(records.length === 1 ? records[0] : records, null, 2);
}

/** Have the browser save records as JSON. */
export function downloadRecords(records, name) {
  save(new Blob([recordsText(records)], { type: "application/json" }), name);
}

/** Have the browser save the bytes of a key or value. */
export function downloadBytes(data, name) {
  save(new Blob([bytesOf(data)], { type: "application/octet-stream" }), name);
}

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  // After the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
