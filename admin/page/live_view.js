// Views of the state: read from the API, and read again when the stream says that it changed.

import { element, fill, whenReleased } from "./dom.js";
import { Refresher } from "./refresher.js";
import { sortedTable } from "./sorted_table.js";

const PAUSE_MS = 500;

/**
 * Return a view. parts: the parts of the state that it shows. head: nodes above the state, which stay.
 * read(): returns a promise of the state; draw(state): returns nodes. refresh(): reads it now.
 */
export function liveView({ title, parts, head = [], foot = [], read, draw }) {
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const body = element("div", { class: "section" });
  const root = element("div", { class: "state-view is-unread" }, element("h1", {}, title), head, problem, body, foot);
  let shown = null;
  let drawn = null;

  function show() {
    const { activeElement } = document;
    const focused = activeElement instanceof HTMLElement && root.contains(activeElement) ? activeElement.dataset.key : undefined;
    fill(body, draw(shown));
    // The foot would move down below a state that comes later.
    root.classList.remove("is-unread");
    if (focused !== undefined) root.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  async function readAgain() {
    const state = await read();
    problem.hidden = true;
    const text = JSON.stringify(state);
    if (text === drawn) return;
    drawn = text;
    shown = state;
    whenReleased(body, show);
  }

  const refresher = new Refresher(readAgain, PAUSE_MS, (error) => {
    problem.textContent = error.message;
    problem.hidden = false;
    if (error.status !== 404) return;
    drawn = null;
    fill(body);
  });
  refresher.ask();
  return {
    root,
    close: () => refresher.stop(),
    changed: (part) => parts.includes(part) && refresher.ask(),
    refresh: () => refresher.now(),
    /** Draw the same state again, because a filter or what is known beside it changed. */
    redraw: () => shown !== null && whenReleased(body, show),
  };
}

/** Return a table, as sortedTable does. A view that is drawn again shows the same page in the same order. */
export function table(label, heads, items, rowOf) {
  return sortedTable(label, heads, items, rowOf);
}

/** Return a number as a text; "unknown" for null, which the API has for what is on nodes that are down. */
export function numberText(number) {
  return number === null ? "unknown" : number.toLocaleString("en");
}

/** Return the sum; null if one of the numbers is. */
export function sumOf(numbers) {
  return numbers.reduce((sum, number) => (sum === null || number === null ? null : sum + number), 0);
}

/** Return a word of a state in a colour. tone: "ok", "slow", "cut" or another colour of style.css. */
export function badge(text, tone = "ok") {
  return element("span", { class: `badge tone-${tone}` }, text);
}

/** Return a link to a view of the state. */
export function stateLink(view, name, text = name) {
  return element("a", { href: `#${view}/${encodeURIComponent(name)}`, "data-key": `${view}/${name}` }, text);
}
