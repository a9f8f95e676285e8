// The drawing of the timeline: which rows are in the document, where, and when they are drawn.

import assert from "node:assert/strict";
import { test } from "node:test";

import { batchOf, entriesOf, entryOf } from "./entries.js";
import { CHART, openDocument } from "./browser.js";

const { document, frame } = openDocument();
// The page uses the document when it is loaded.
const { paced } = await import("../page/dom.js");
const { Journal } = await import("../page/journal.js");
const { Timeline } = await import("../page/timeline.js");

const ROW = 46;
const IN_VIEW = CHART.height / ROW;
const UPDATE_MS = 250;
const BUSY_UPDATE_MS = 500;

function opened(requests = []) {
  const journal = new Journal();
  journal.add(requests);
  const timeline = new Timeline(journal, () => {});
  document.body.replaceChildren(timeline.root);
  timeline.measure();
  return { journal, timeline };
}

const drawn = (timeline) => [...timeline.body.children].map((row) => Number(row.dataset.id));

/** Return the requests in view that have no row at their place. */
function missing({ requests, rows, top, rowHeight }) {
  return requests.entries.filter((entry, at) => {
    const place = at * rowHeight;
    const isInView = place + rowHeight > top && place < top + CHART.height;
    return isInView && rows.get(entry.id)?.style.top !== `${place}px`;
  });
}

test("only the rows in view are drawn while the timeline follows", () => {
  const { timeline } = opened(entriesOf(1, 5000));

  assert.deepEqual(drawn(timeline), entriesOf(5001 - IN_VIEW, 5000).map(({ id }) => id));
  assert.equal(timeline.scroller.scrollTop, 5000 * ROW - CHART.height);
  assert.deepEqual(missing(timeline), []);
});

test("a jump draws the rows in view first, and those around them in the next frame", () => {
  const { timeline } = opened(entriesOf(1, 5000));

  timeline.scrollTo(1000 * ROW);
  assert.deepEqual(drawn(timeline), entriesOf(1001, 1000 + IN_VIEW).map(({ id }) => id));
  frame(0);

  assert.equal(drawn(timeline)[0] < 1001, true);
  assert.deepEqual(missing(timeline), []);
  const count = drawn(timeline).length;
  timeline.scrollTo(1001 * ROW);
  assert.equal(drawn(timeline).length, count);
});

test("scroll position and rows change in the same frame", () => {
  const { journal, timeline } = opened(entriesOf(1, 100));

  for (let first = 101; first < 1000; first += 30) {
    journal.add(entriesOf(first, first + 29));
    frame(100);
    assert.deepEqual(missing(timeline), []);
    assert.equal(timeline.scroller.scrollTop, timeline.top);
  }
  frame(BUSY_UPDATE_MS);
  frame(0);
  assert.equal(drawn(timeline).at(-1), journal.entries.at(-1).id);
});

/** Return how often the timeline is drawn in a second in which requests come each 10 ms. */
function drawnInASecond(requestsOf) {
  const { journal, timeline } = opened(entriesOf(1, 100));
  frame(BUSY_UPDATE_MS);
  frame(BUSY_UPDATE_MS);
  let updates = 0;
  timeline.onCount = () => {
    updates += 1;
  };
  let next = 101;
  for (let at = 0; at < 100; at += 1) {
    const count = requestsOf(at);
    if (count) journal.add(entriesOf(next, next + count - 1));
    next += count;
    frame(10);
  }
  return updates;
}

test("requests are drawn four times a second", () => {
  assert.ok([4, 5].includes(drawnInASecond((at) => (at % 10 === 0 ? 1 : 0))));
});

test("requests are drawn twice a second if no row stays in view", () => {
  assert.ok([2, 3].includes(drawnInASecond(() => 10)));
});

test("a chart that is scrolled back keeps its place when the oldest requests are removed", () => {
  const { journal, timeline } = opened(entriesOf(1, 10000));
  timeline.scrollTo(6000 * ROW + 10);

  journal.add(entriesOf(10001, 10001));
  frame(UPDATE_MS);
  frame(0);

  assert.equal(timeline.requests.entries[0].id, 502);
  assert.equal(timeline.top, (6000 - 501) * ROW + 10);
  assert.deepEqual(missing(timeline), []);
});

test("a paused timeline has its requests, also those that the journal has removed", () => {
  const { journal, timeline } = opened(entriesOf(1, 10));

  timeline.setPaused(true);
  journal.add(entriesOf(11, 20000));
  frame(BUSY_UPDATE_MS);
  frame(0);

  assert.deepEqual(drawn(timeline), entriesOf(1, 10).map(({ id }) => id));
  assert.equal(timeline.find(3).id, 3);
  timeline.setPaused(false);
  assert.equal(drawn(timeline).at(-1), 20000);
});

test("a chosen request is shown as it is now, also before the timeline is drawn again", () => {
  const chosen = [];
  const { journal, timeline } = opened([entryOf(1, { answer: "waiting" })]);
  timeline.onSelect = (entry) => chosen.push(entry.answer);

  journal.add([entryOf(1)]);
  timeline.move(1);

  assert.deepEqual(chosen, ["written"]);
});

test("older requests come before those of the page, and the one that is to be shown is in view", () => {
  const { timeline } = opened(entriesOf(1001, 2000));

  timeline.setOlder(entriesOf(501, 1000), 1000);

  assert.equal(timeline.requests.entries.length, 1500);
  assert.ok(drawn(timeline).includes(1000));
  assert.equal(timeline.isFollowing, false);
  assert.deepEqual(missing(timeline), []);
});

test("older requests leave with the journal's when it is cleared", () => {
  const { journal, timeline } = opened(entriesOf(1001, 2000));
  timeline.setOlder(entriesOf(501, 1000));

  journal.clear(1999);
  frame(BUSY_UPDATE_MS);
  frame(0);

  assert.deepEqual(timeline.requests.entries.map(({ id }) => id), [2000]);
});

test("the arrow of a request ends at the line of its node", () => {
  const { timeline } = opened([entryOf(1, { node: 3 }), entryOf(2, { node: 1 }), entryOf(3, { node: 2 })]);

  const heads = [...timeline.heads.children].filter((head) => head.classList.contains("broker"));
  assert.deepEqual(heads.map((head) => head.textContent), ["node 1", "node 2", "node 3"]);
  const ends = [...timeline.body.children].map((row) => Number(row.querySelector(".request line").getAttribute("x2")));
  const lines = [...timeline.lifelines.querySelectorAll(".broker")].map((line) => Number(line.getAttribute("x1")));
  assert.deepEqual(ends, [lines[2], lines[0], lines[1]]);
});

test("the only node is named broker", () => {
  const { timeline } = opened([entryOf(1, { node: 1 })]);

  assert.deepEqual([...timeline.heads.children].map((head) => head.textContent), ["shop", "broker"]);
});

test("a response that a closing client does not wait for is not lost", () => {
  const closed = { answer: "not_written", client_closed: true };
  const { timeline } = opened([entryOf(1, { api: "Fetch", ...closed }), entryOf(2, closed)]);

  const [fetch, produce] = timeline.body.children;
  assert.match(fetch.textContent, /the client closed first/);
  assert.equal(fetch.querySelectorAll(".lost").length, 0);
  assert.match(produce.textContent, /no response: the client has closed/);
  assert.equal(produce.querySelectorAll(".arrow.lost").length, 1);
});

/** Return the places of the marks that are drawn, and their texts. */
const marksOf = (timeline) => [...timeline.marks.children].map((line) => [line.style.top, line.textContent]);

test("a mark is a line between the requests before it and after it, also if the filter hides them", () => {
  const { journal, timeline } = opened([entryOf(1), entryOf(2, { api: "Fetch" }), entryOf(3)]);

  journal.addMarks([
    { id: 1, after_id: 0, kind: "rule", text: "rule 1 added" },
    { id: 2, after_id: 2, kind: "node", text: "node 1 is killed" },
    { id: 3, after_id: 2, kind: "leader", text: "node 2 leads orders-0" },
    { id: 4, after_id: 3, kind: "clock", text: "clock: manual" },
  ]);
  frame(BUSY_UPDATE_MS);
  frame(0);
  assert.deepEqual(marksOf(timeline), [["0px", "rule 1 added"], [`${2 * ROW}px`, "node 1 is killed and 1 more"], [`${3 * ROW}px`, "clock: manual"]]);

  timeline.setFilter({ api: "Produce" });

  assert.deepEqual(marksOf(timeline).map(([top]) => top), ["0px", `${ROW}px`, `${2 * ROW}px`]);
});

test("only the marks in view are drawn", () => {
  const { journal, timeline } = opened(entriesOf(1, 1000));
  journal.addMarks(Array.from({ length: 1000 }, (_, at) => ({ id: at + 1, after_id: at + 1, kind: "rule", text: `rule ${at + 1} added` })));
  frame(BUSY_UPDATE_MS);
  frame(0);

  assert.equal(timeline.marks.children.length, IN_VIEW + 1);
  assert.equal(timeline.marks.children[IN_VIEW - 1].textContent, "rule 999 added");
});

test("marks are the same after a connection was lost, and leave with the requests", () => {
  const { journal } = opened([entryOf(1), entryOf(2)]);
  const marks = [{ id: 1, after_id: 1, kind: "rule", text: "rule 1 added" }, { id: 2, after_id: 2, kind: "rule", text: "rule 1 removed" }];
  journal.addMarks(marks);

  journal.addMarks(marks);
  assert.deepEqual(journal.marks, marks);
  journal.clear(2);

  assert.deepEqual(journal.marks, [marks[1]]);
});

test("a lost response is a broken arrow, and its repetition names it", () => {
  const fault = { kind: "close", point: "applied", rule: 1 };
  const lost = entryOf(1, { batches: [batchOf(0)], faults: [fault], answer: "not_written" });
  const repetition = entryOf(2, { batches: [batchOf(0, { decision: "duplicate" })] });

  const { timeline } = opened([lost, repetition]);

  const [first, second] = timeline.body.children;
  assert.equal(first.querySelectorAll(".arrow.lost").length, 1);
  assert.equal(first.querySelectorAll(".fault.is-cut").length, 1);
  assert.match(first.textContent, /appended at offset 0 · close by rule 1/);
  assert.match(second.textContent, /repeats 1.*duplicate of offset 0/);
});

test("paced work is done once a pause, and again after the last call", () => {
  let done = 0;
  const call = paced(() => {
    done += 1;
  }, () => 200);

  for (let at = 0; at < 100; at += 1) {
    call();
    frame(10);
  }
  assert.ok(done <= 6);
  done = 0;
  call();
  frame(200);
  frame(0);
  assert.equal(done, 1);
  frame(1000);
  assert.equal(done, 1);
});
