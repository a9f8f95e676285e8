// One record of a log: a line that opens to its headers, key, value and producer.

import { copyText } from "./copy_panel.js";
import { button, element, facts, fill } from "./dom.js";
import { bytesText, dateText } from "./format.js";
import { badge } from "./live_view.js";
import { downloadBytes, downloadRecords, recordsText } from "./record_export.js";
import { bytesOf, previewText, visibleText, wholeText } from "./record_text.js";

// Shown of a long value until a person wants all of it.
const SHOWN_CHARACTERS = 8000;

/**
 * Return the row of a record. form: how keys and values are shown. decode: see recordDecoder.
 * place: a text before the offset, or nothing.
 */
export function recordRow(record, form, decode, place = "") {
  const body = element("div", { class: "record-body" });
  const row = element(
    "details",
    { class: `record is-${record.transaction}` },
    element(
      "summary",
      {},
      element("span", { class: "mono" }, `${place}${record.offset}`),
      element("span", { class: "mono" }, shortDate(record.timestamp)),
      element("span", { class: record.key === null ? "none" : "mono" }, record.is_control ? "" : previewText(record.key, form)),
      element("span", { class: record.value === null ? "none" : "mono" }, record.is_control ? "" : previewText(record.value, form)),
      element("span", {}, marksOf(record)),
    ),
    body,
  );
  row.addEventListener("toggle", async () => {
    if (!row.open || body.firstChild) return;
    const decodedPlace = element("div", { class: "section" });
    fill(body, detailsOf(record, form), decodedPlace, exportsOf(record));
    fill(decodedPlace, await decode(record));
  });
  return row;
}

/** Return date and time without the zone, which is in the head. */
function shortDate(ms) {
  return dateText(ms).replace(" UTC", "");
}

function marksOf(record) {
  if (record.is_control) return badge(markerText(record), record.transaction === "aborted" ? "cut" : "ok");
  if (record.transaction === "aborted") return badge("aborted", "cut");
  return record.transaction === "open" ? badge("open transaction", "waiting") : null;
}

function markerText({ transaction }) {
  return { committed: "commit marker", aborted: "abort marker" }[transaction] ?? "control record";
}

function detailsOf(record, form) {
  const hasProducer = record.producer_id >= 0;
  return [
    facts([
      ["Timestamp", `${dateText(record.timestamp)}, ${record.timestamp_type}`],
      ["Producer id", hasProducer ? record.producer_id : null],
      ["Producer epoch", hasProducer ? record.producer_epoch : undefined],
      ["Sequence", hasProducer ? (record.sequence < 0 ? null : record.sequence) : undefined],
      ["Transaction", record.is_control ? markerText(record) : record.transaction],
      ["Compression", record.compression],
      ["Leader epoch", record.leader_epoch],
    ]),
    headersOf(record.headers, form),
    dataBlock("Key", record.key, form),
    dataBlock("Value", record.value, form),
  ];
}

function exportsOf(record) {
  const name = `${record.partition}-${record.offset}`;
  return element(
    "p",
    { class: "links" },
    button("Copy record as JSON", (event) => copyText(recordsText([record]), event.currentTarget)),
    button("Download record as JSON", () => downloadRecords([record], `${name}.json`)),
    ["key", "value"].filter((part) => record[part] !== null).map((part) => button(`Download ${part}`, () => downloadBytes(record[part], `${name}.${part}`))),
  );
}

function headersOf(headers, form) {
  if (!headers.length) return null;
  return [element("h3", {}, "Headers"), facts(headers.map(({ name, value }) => [visibleText(name), value === null ? null : previewText(value, form)]))];
}

function dataBlock(name, data, form) {
  const text = wholeText(data, form);
  const isLong = text.length > SHOWN_CHARACTERS;
  const size = data === null ? "" : bytesText(bytesOf(data).length);
  const block = element("pre", { class: /^0{6} {2}/.test(text) ? "hex" : null, tabindex: 0, "aria-label": name }, isLong ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
  const all = button(`Show all ${size}`, () => {
    block.textContent = text;
    block.focus();
    all.remove();
  });
  return element("figure", { class: "data" }, element("figcaption", {}, element("h3", {}, name, " ", element("small", {}, size))), block, isLong ? all : null);
}

/** Return the heads of rows of records. place: that of the first column. */
export function recordHeads(place = "Offset") {
  return element("div", { class: "record-heads", "aria-hidden": "true" }, [place, "Time (UTC)", "Key", "Value", ""].map((head) => element("span", {}, head)));
}
