// The records of a partition, a page at a time.

import { button, element, fill } from "./dom.js";
import { recordDecoder } from "./record_decoding.js";
import { recordHeads, recordRow } from "./record_row.js";
import { TEXT_FORMS } from "./record_text.js";

const PAGE_RECORDS = 50;
// The height of the row of a record on a wide screen.
const ROW_PIXELS = 33;

/**
 * Return the part: `root`, `update(partitions)` with the topic's partitions, `partitions()`, and `open(partition, offset)`.
 * path: of the topic in the API. offset: a text; empty for the newest records.
 */
export function recordsPart(api, path, partition, offset) {
  let known = [];
  let items = null;
  // The offset whose row is open after it was read; the number of the newest read.
  let opened = offset === "" ? null : Number(offset);
  let reads = 0;
  const decode = recordDecoder(api, path);
  const choice = element("select", { "aria-label": "Partition", on: { change: () => newest() } });
  const from = element("input", { type: "number", min: 0, "aria-label": "From offset", placeholder: "offset" });
  const form = element("select", { "aria-label": "Show as", on: { change: () => draw() } }, TEXT_FORMS.map(([value, text]) => element("option", { value }, text)));
  const older = button("Older", () => newest(items[0].offset));
  const newer = button("Newer", () => read(items.at(-1).offset + 1));
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const list = element("div", { class: "records" });
  const place = element("output", { class: "count" });

  const now = () => known.find((each) => String(each.partition) === choice.value);
  const start = () => now()?.log_start_offset ?? 0;
  const end = () => now()?.log_end_offset ?? 0;

  /** Read up to the last record, or to the one before an offset: as many as fit into a page. */
  function newest(before = null) {
    const until = before === null ? {} : { to_offset: before - 1 };
    const body = { partition: Number(choice.value), ...until, limit: PAGE_RECORDS };
    return show(async () => {
      const { items: found, unreadable } = await api.call("POST", `${path}/records/search`, body);
      // A search passes over what is damaged. Reading in order says where it is, and how to go on.
      if (!found.length && unreadable) return itemsFrom(start());
      return found.toSorted((one, other) => one.offset - other.offset);
    });
  }

  /** Read and show the records from an offset on. */
  function read(first) {
    return show(() => itemsFrom(first));
  }

  async function itemsFrom(first) {
    return (await api.get(`${path}/records?partition=${choice.value}&from_offset=${first}&limit=${PAGE_RECORDS}`)).items;
  }

  /** Show the records that are read, if no newer read has begun meanwhile. */
  async function show(readItems) {
    reads += 1;
    const own = reads;
    try {
      const found = await readItems();
      if (own !== reads) return;
      problem.hidden = true;
      items = found;
    } catch (error) {
      if (own !== reads) return;
      problem.textContent = error.message;
      problem.hidden = false;
      items = [];
    }
    draw();
  }

  /** Keep the place of the first records, so that the parts below do not move when they come. */
  function reserve() {
    const rows = Math.min(PAGE_RECORDS, end() - start());
    list.style.minHeight = `${(rows + 1) * ROW_PIXELS}px`;
    fill(list, element("p", { class: "note" }, "Reading"));
  }

  function draw() {
    list.style.minHeight = "";
    const rows = (items ?? []).map((record) => recordRow(record, form.value, decode));
    const empty = end() > start() ? "No records from this offset on." : "This partition has no records. Append one, or let a producer write.";
    fill(list, rows.length ? [recordHeads(), rows] : element("p", { class: "note" }, items === null ? "Reading" : empty));
    const at = opened === null ? -1 : (items ?? []).findIndex((record) => record.offset === opened);
    if (at >= 0) {
      rows[at].open = true;
      rows[at].scrollIntoView({ block: "nearest" });
      opened = null;
    }
    drawPlace();
  }

  function drawPlace() {
    const count = items?.length ?? 0;
    const isAll = count > 0 && items[0].offset === start() && items[count - 1].offset === end() - 1;
    place.textContent = count ? `offsets ${items[0].offset} to ${items[count - 1].offset}${isAll ? "" : ` of ${start()} to ${end() - 1}`}` : "";
    older.disabled = !count || items[0].offset <= start();
    newer.disabled = !count || items[count - 1].offset + 1 >= end();
  }

  function update(partitions) {
    known = partitions;
    if (choice.options.length !== known.length) {
      const chosen = choice.value || String(partition);
      fill(choice, known.map((each) => element("option", { value: each.partition }, `partition ${each.partition}`)));
      choice.value = known.some((each) => String(each.partition) === chosen) ? chosen : "0";
    }
    if (items === null) reserve();
    if (items === null && opened !== null) read(opened);
    else if (!items?.length || items.at(-1)?.offset >= end()) newest();
    else drawPlace();
  }

  function open(number, first) {
    choice.value = String(number);
    opened = first;
    return read(first);
  }

  const root = element(
    "section",
    { class: "section", "aria-label": "Records" },
    element("h2", {}, "Records"),
    element(
      "form",
      {
        class: "state-tools",
        on: {
          submit(event) {
            event.preventDefault();
            read(Number(from.value || 0));
          },
        },
      },
      choice,
      element("span", { class: "group" }, button("Oldest", () => read(start())), button("Newest", () => newest())),
      from,
      button("Go", null, { type: "submit" }),
      element("span", { class: "spacer" }),
      place,
      form,
    ),
    problem,
    list,
    element("p", { class: "links" }, older, newer),
  );
  return { root, update, open, partitions: () => known };
}
