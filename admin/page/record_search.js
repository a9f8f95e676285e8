// The search for records by key or header, over all partitions of a topic, page by page.

import { button, element, fill } from "./dom.js";
import { recordHeads, recordRow } from "./record_row.js";

// Records of one call, and of one search until a person continues it.
const CALL_RECORDS = 1000;
const SEARCHED_MAX = 100000;
const FOUND_MAX = 100;

/**
 * Return the part: `root`, `update(partitions)` with the topic's partitions, and `stop()`.
 * path: of the topic in the API. open(record): shows a record among those around it.
 */
export function recordSearch(api, path, open) {
  let known = [];
  // The number of the newest run, the page that it continues with, what it has done, and what it looks for.
  let runs = 0;
  let next = null;
  let searched = 0;
  let found = [];
  let isWanted = null;
  const where = element("input", { name: "where", value: "key", required: true, pattern: "key|header:.+", title: "key or header:NAME", "aria-label": "Search in" });
  const wanted = element("input", { name: "wanted", type: "search", placeholder: "exact text", required: true, "aria-label": "Search for" });
  const progress = element("output", { class: "count" });
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const list = element("div", { class: "records" });
  const halt = button("Stop", () => stop(), { hidden: true });
  const more = button("Continue", () => run(), { hidden: true });

  const total = () => known.reduce((sum, each) => sum + (each.log_end_offset ?? 0) - (each.log_start_offset ?? 0), 0);

  function begin(event) {
    event.preventDefault();
    next = null;
    searched = 0;
    found = [];
    isWanted = testOf(where.value, wanted.value);
    fill(list);
    run();
  }

  async function run() {
    runs += 1;
    const own = runs;
    const [foundMax, searchedMax] = [found.length + FOUND_MAX, searched + SEARCHED_MAX];
    problem.hidden = true;
    show(true);
    try {
      do {
        const since = next === null ? "" : `&since=${encodeURIComponent(next)}`;
        const page = await api.get(`${path}/records?limit=${CALL_RECORDS}${since}`);
        if (own !== runs) return;
        next = page.next;
        searched += page.items.length;
        add(page.items.filter(isWanted));
        show(true);
      } while (next !== null && found.length < foundMax && searched < searchedMax);
    } catch (error) {
      if (own !== runs) return;
      problem.textContent = error.message;
      problem.hidden = false;
    }
    show(false);
  }

  function add(records) {
    if (!records.length) return;
    if (!found.length) list.append(recordHeads("Partition · offset"));
    for (const record of records) {
      const row = recordRow(record, "detect", `${record.partition} · `);
      row.append(button("Show in its partition", () => open(record), { kind: "link" }));
      list.append(row);
    }
    found.push(...records);
  }

  function stop() {
    runs += 1;
    show(false);
  }

  function show(isRunning) {
    const all = Math.max(total(), searched);
    progress.textContent = `${found.length} found · searched ${searched.toLocaleString("en")} of ${all.toLocaleString("en")} records`;
    halt.hidden = !isRunning;
    more.hidden = isRunning || next === null;
  }

  const root = element(
    "section",
    { class: "section", "aria-label": "Search" },
    element("h2", {}, "Search"),
    element(
      "form",
      { class: "state-tools", role: "search", on: { submit: begin } },
      where,
      wanted,
      button("Search", null, { type: "submit" }),
      halt,
      more,
      progress,
    ),
    element("p", { class: "note" }, "In key, or in header:NAME such as header:event-id; all partitions, oldest first."),
    problem,
    list,
  );
  return { root, stop, update: (partitions) => (known = partitions) };
}

/** Return whether a record has the text as its key, or as a header of the name after "header:". */
function testOf(where, text) {
  if (!where.startsWith("header:")) return (record) => record.key === text;
  const name = where.slice("header:".length);
  return (record) => record.headers.some((header) => header.name === name && header.value === text);
}
