// A row of the timeline: the arrows of a request and of its response, the marks of its faults, and what the broker decided.

import { WAITED_FOR } from "./declared.js";
import { element, shape } from "./dom.js";
import { batchText, decisionText, subjectText, timeText } from "./format.js";
import { familyOf, isLeft, statusOf, toneOf } from "./journal.js";
import { laneOf } from "./lanes.js";

// Labels fit into a row of this height, and both arrows into one of that.
const LABELS_FROM = 24;
const ARROWS_FROM = 46;

/**
 * Return the row of a request.
 * place: `columns`, `height` in pixels, what there is a lane per (`by`), and the request that it `repeats` or undefined.
 */
export function timelineRow(entry, { columns, height, by, repeats }) {
  const status = statusOf(entry);
  const hasLabels = height >= LABELS_FROM;
  const row = element("div", {
    class: `row is-${status} tone-${toneOf(entry, status)}`,
    role: "option",
    id: `request-${entry.id}`,
    "data-id": entry.id,
    // A row with labels is named by them.
    "aria-label": hasLabels ? null : spokenText(entry),
  });
  row.style.height = `${height}px`;
  const from = columns.of(laneOf(entry, by));
  row.append(hasLabels ? arrows(entry, from, columns, height) : bar(from, columns.ofNode(entry.node), height));
  if (hasLabels) row.append(...labels(entry, from, columns, { repeats, isTall: height >= ARROWS_FROM }));
  return row;
}

function arrows(entry, from, columns, height) {
  const broker = columns.ofNode(entry.node);
  const isTall = height >= ARROWS_FROM;
  const there = isTall ? Math.round(height * 0.42) : Math.round(height / 2) + 6;
  const back = Math.round(height * 0.84);
  const isReceived = !entry.faults.some((fault) => fault.point === "received" && isCut(fault));
  const parts = [arrow(from, isReceived ? broker : (from + broker) / 2, there, "request")];
  if (!isReceived) parts.push(cross((from + broker) / 2, there));
  if (isTall) parts.push(...response(entry, broker, from, back));
  for (const [number, fault] of entry.faults.entries()) parts.push(marker(fault, number, from, broker, there, back, isTall));
  return shape("svg", { class: "arrows", width: columns.width, height, "aria-hidden": "true" }, parts);
}

function labels(entry, from, columns, { repeats, isTall }) {
  const label = element(
    "span",
    { class: "label" },
    element(
      "span",
      // The label may be cut.
      { class: "what", title: whatText(entry) },
      element("b", {}, entry.api),
      ` ${subjectText(entry)}`,
      element("span", { class: "sequences" }, entry.batches.length === 1 ? ` ${batchText(entry.batches[0])}` : ""),
    ),
    repeats === undefined ? null : element("span", { class: "repeat", "data-jump": repeats }, `↻ repeats ${repeats}`),
  );
  label.style.left = `${from + 8}px`;
  label.style.width = `${columns.ofNode(entry.node) - from - 16}px`;
  const time = element("span", { class: "when" }, columns.isNarrow ? timeText(entry.at_ms).slice(3) : timeText(entry.at_ms));
  const decision = element("span", { class: "decision", title: decisionsText(entry) }, decisionsText(entry));
  if (columns.isNarrow) {
    decision.style.right = "22px";
    decision.style.left = `${from + 8}px`;
  } else {
    decision.style.left = `${columns.broker + 10}px`;
    decision.classList.toggle("is-tall", isTall);
  }
  return [time, label, decision];
}

function whatText(entry) {
  return [entry.api, subjectText(entry), entry.batches.length === 1 && batchText(entry.batches[0])].filter(Boolean).join(" ");
}

function isCut(fault) {
  return familyOf(fault.kind) === "cut" && fault.kind !== "crash";
}

function bar(from, broker, height) {
  const made = element("span", { class: "bar" });
  made.style.left = `${from}px`;
  made.style.width = `${broker - from}px`;
  made.style.height = `${Math.max(1, height - 1)}px`;
  return made;
}

function arrow(from, to, y, kind) {
  const head = to > from ? -6 : 6;
  return shape(
    "g",
    { class: `arrow ${kind}` },
    shape("line", { x1: from, x2: to, y1: y, y2: y }),
    shape("path", { d: `M${to} ${y}l${head} -3.5v7z` }),
  );
}

function cross(x, y) {
  return shape("path", { class: "cross", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` });
}

/** Return the response's arrow: crossed out where it broke off, dotted while it is awaited, none if none is owed. */
function response(entry, broker, lane, y) {
  if (entry.answer === "not_owed") return [];
  if (entry.answer === "waiting") return [shape("line", { class: "arrow waiting", x1: broker, x2: lane, y1: y, y2: y })];
  if (entry.answer === "written") return [arrow(broker, lane, y, entry.error === null ? "response" : "response error")];
  if (isLeft(entry)) return [];
  const end = broker - (broker - lane) * 0.4;
  return [shape("line", { class: "arrow lost", x1: broker, x2: end, y1: y, y2: y }), cross(end, y)];
}

/** Return the mark of a fault at its point: on the way to the broker, at the broker, or on the way back. */
function marker(fault, number, lane, broker, there, back, isTall) {
  const places = {
    accepted: [lane, there],
    received: [broker - 26, there],
    applied: [broker, isTall ? (there + back) / 2 : there],
    answering: [broker - 26, isTall ? back : there],
  };
  const [x, y] = places[fault.point] ?? places.applied;
  const mark = shape("circle", { class: `fault is-${familyOf(fault.kind)}`, cx: x - number * 12, cy: y, r: 5.5 });
  mark.append(shape("title", {}, `rule ${fault.rule}: ${fault.kind} at ${fault.point}`));
  return mark;
}

/** Return what the broker decided, with the fault that changed it. */
function decisionsText(entry) {
  const faults = entry.faults.map((fault) => `${fault.kind} by rule ${fault.rule}`);
  const batches = entry.batches.slice(0, 2).map(decisionText);
  if (entry.batches.length > 2) batches.push(`${entry.batches.length - 2} more batches`);
  const parts = [...batches, ...faults];
  if (entry.error !== null && !parts.some((part) => part.includes(entry.error))) parts.push(entry.error);
  if (entry.answer === "waiting") parts.push("awaits its response");
  if (entry.answer === "not_written") parts.push(missingText(entry));
  return parts.join(" · ");
}

/** Return why a request has no response. */
function missingText(entry) {
  if (entry.client_closed) return isLeft(entry) && !entry.faults.length ? "the client closed first" : "no response: the client has closed";
  return WAITED_FOR.includes(entry.faults.at(-1)?.kind) ? "no response so far" : "no response";
}

function spokenText(entry) {
  const decided = decisionsText(entry);
  return `Request ${entry.id}, ${entry.api} ${subjectText(entry)}${decided ? `, ${decided}` : ""}`;
}
