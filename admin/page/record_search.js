// The search for records by the broker, over all partitions of a topic, page by page; and the following of new ones.

import { copyText } from "./copy_panel.js";
import { button, element, fill } from "./dom.js";
import { recordDecoder } from "./record_decoding.js";
import { downloadRecords, recordsText } from "./record_export.js";
import { searchBody } from "./record_query.js";
import { recordHeads, recordRow } from "./record_row.js";

// Records of one search until a person continues it.
const SEARCHED_MAX = 100000;
const FOUND_MAX = 100;
// Followed records that are kept; the oldest of them are removed.
const SHOWN_MAX = 1000;

/**
 * Return the part: `root`, `update(partitions)` with the topic's partitions, and `stop()`.
 * path: of the topic in the API. open(record): shows a record among those around it.
 */
export function recordSearch(api, path, open) {
  let known = [];
  // The number of the newest run, what it looks for, the page that it continues with, and what it has done.
  let runs = 0;
  let body = null;
  let next = null;
  let searched = 0;
  let unreadable = 0;
  let found = [];
  // The token of what comes after the first page, and whether it is being read.
  let follow = null;
  let isFollowing = false;
  const decode = recordDecoder(api, path);
  const where = element("input", { name: "where", placeholder: "key, value, headers", title: "key, value, header:NAME or json:PATH; empty for key, value and headers", "aria-label": "Search in" });
  const match = element("select", { name: "match", "aria-label": "Match" }, [["contains", "contains"], ["equals", "is"], ["regex", "matches"]].map(optionOf));
  const wanted = element("input", { name: "wanted", type: "search", placeholder: "text", "aria-label": "Search for" });
  const order = element("select", { name: "order", "aria-label": "Order" }, [["newest", "newest first"], ["oldest", "oldest first"]].map(optionOf));
  const from = element("input", { name: "from", placeholder: "from offset or time", title: "An offset of each partition; or a time as 2026-11-29 18:00 in UTC, or in ms", "aria-label": "From" });
  const following = element("input", { type: "checkbox", on: { change: () => readNew() } });
  const progress = element("output", { class: "count" });
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const list = element("div", { class: "records" });
  const halt = button("Stop", () => stop(), { hidden: true });
  const more = button("Continue", () => run(), { hidden: true });
  const texts = element(
    "p",
    { class: "links", hidden: true },
    button("Copy as JSON", (event) => copyText(recordsText(found), event.currentTarget)),
    button("Download as JSON", () => downloadRecords(found, "records.json")),
  );

  const total = () => known.reduce((sum, each) => sum + (each.log_end_offset ?? 0) - (each.log_start_offset ?? 0), 0);

  function begin(event) {
    event.preventDefault();
    const chosen = searchBody({ where: where.value, match: match.value, wanted: wanted.value, order: order.value, from: from.value });
    if (chosen === null) {
      showProblem(`${from.value} is neither an offset nor a time`);
      return;
    }
    body = chosen;
    next = null;
    follow = null;
    searched = 0;
    unreadable = 0;
    found = [];
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
        const since = next === null ? {} : { since: next };
        const page = await api.call("POST", `${path}/records/search`, { ...body, ...since, limit: foundMax - found.length });
        if (own !== runs) return;
        next = page.next;
        follow ??= page.follow;
        searched += page.searched;
        unreadable += page.unreadable;
        add(page.items);
        show(true);
      } while (next !== null && found.length < foundMax && searched < searchedMax);
    } catch (error) {
      if (own !== runs) return;
      showProblem(error.message);
    }
    show(false);
    readNew();
  }

  /** Read what came after the first page, if a person wants that. */
  async function readNew() {
    if (!following.checked || follow === null || isFollowing) return;
    const own = runs;
    isFollowing = true;
    try {
      let page;
      do {
        const { from_ms: _fromMs, from_offset: _fromOffset, ...conditions } = body;
        page = await api.call("POST", `${path}/records/search`, { ...conditions, order: "oldest", since: follow, limit: FOUND_MAX });
        if (own !== runs || !following.checked) return;
        follow = page.next ?? page.follow;
        searched += page.searched;
        add(page.items, body.order === "newest");
        show(!halt.hidden);
      } while (page.next !== null);
    } catch (error) {
      showProblem(error.message);
    } finally {
      isFollowing = false;
    }
  }

  /** Add records behind the others; of newer ones each before the others. */
  function add(records, areNewer = false) {
    if (!records.length) return;
    if (!list.firstChild) list.append(recordHeads("Partition · offset"));
    for (const record of records) {
      const row = recordRow(record, "detect", decode, `${record.partition} · `);
      row.append(button("Show in its partition", () => open(record), { kind: "link" }));
      if (areNewer) list.firstChild.after(row);
      else list.append(row);
    }
    found = areNewer ? [...records.toReversed(), ...found] : [...found, ...records];
    while (found.length > SHOWN_MAX) {
      if (areNewer) found.pop();
      else found.shift();
      (areNewer ? list.lastChild : list.children[1]).remove();
    }
  }

  function stop() {
    runs += 1;
    show(false);
  }

  function showProblem(text) {
    problem.textContent = text;
    problem.hidden = false;
  }

  function show(isRunning) {
    const all = Math.max(total(), searched);
    const damaged = unreadable ? ` · ${unreadable.toLocaleString("en")} places cannot be read` : "";
    progress.textContent = `${found.length} found · searched ${searched.toLocaleString("en")} of ${all.toLocaleString("en")} records${damaged}`;
    halt.hidden = !isRunning;
    more.hidden = isRunning || next === null;
    texts.hidden = !found.length;
  }

  const root = element(
    "section",
    { class: "section", "aria-label": "Search" },
    element("h2", {}, "Search"),
    element(
      "form",
      { class: "state-tools", role: "search", on: { submit: begin } },
      where,
      match,
      wanted,
      from,
      order,
      button("Search", null, { type: "submit" }),
      element("label", { class: "check" }, following, "follow new records"),
      halt,
      more,
      progress,
    ),
    element("p", { class: "note" }, "In key, value, header:NAME or json:PATH such as json:order.id; without a text all records; all partitions."),
    problem,
    list,
    texts,
  );
  return {
    root,
    stop,
    update(partitions) {
      known = partitions;
      readNew();
    },
  };
}

function optionOf([value, text]) {
  return element("option", { value }, text);
}
