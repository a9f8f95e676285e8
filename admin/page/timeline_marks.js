// The marks of the timeline: what happened to the cluster between two requests, as lines across the chart.

import { element } from "./dom.js";

// The texts of one place, which its title lists.
const LISTED_MAX = 20;
// Of the label of a mark, in pixels.
const LABEL_HEIGHT = 16;

/**
 * Return the marks of a part of the chart, one element for each place between two rows.
 * rows: `entries`, the places `first` and `last` between which the part is, and the `height` of a row.
 */
export function markLines(marks, { entries, first, last, height }) {
  const places = new Map();
  let at = first;
  const end = last < entries.length ? entries[last].id : Infinity;
  const begin = first > 0 ? entries[first - 1].id : -Infinity;
  for (const mark of marks) {
    if (mark.after_id < begin) continue;
    if (mark.after_id >= end) break;
    while (at < last && entries[at].id <= mark.after_id) at += 1;
    if (!places.has(at)) places.set(at, []);
    places.get(at).push(mark);
  }
  return [...places].map(([place, found]) => markLine(found, place * height, entries.length * height));
}

function markLine(marks, y, whole) {
  const texts = marks.map(({ text }) => text);
  const more = texts.length - 1;
  const all = texts.length > LISTED_MAX ? [...texts.slice(0, LISTED_MAX), `and ${texts.length - LISTED_MAX} more`] : texts;
  const label = element("span", { title: all.join("\n") }, more ? `${texts[0]} and ${more} more` : texts[0]);
  // Within the chart, also above the first row and below the last one.
  label.style.top = `${Math.max(0, Math.min(y - LABEL_HEIGHT / 2, whole - LABEL_HEIGHT)) - y}px`;
  const line = element("div", { class: `mark is-${marks[0].kind}`, role: "none" }, label);
  line.style.top = `${y}px`;
  return line;
}
