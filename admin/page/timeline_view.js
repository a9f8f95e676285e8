// The view of the timeline: the filter, the zoom, the diagram and the panel of the selected request.

import { button, element, emptyState, fill } from "./dom.js";
import { filterForm } from "./filter_form.js";
import { countText } from "./format.js";
import { firstFrom } from "./journal.js";
import { LANES } from "./lanes.js";
import { showAddress } from "./navigation.js";
import { notify } from "./notices.js";
import { OlderSearch } from "./older_search.js";
import { addressPartsOf, choiceOf, hasConditions } from "./request_filter.js";
import { requestPanel } from "./request_panel.js";
import { Timeline } from "./timeline.js";

// The step of the history in which a request was opened.
const OPENING = "opening";

/**
 * Return the view: `root`, `close()`, `shown()` and `moved(...parts)`.
 * options: `parts` of the address: the request to open, conditions of the filter, and the lanes; `producers`, `header` and
 * `likeThis`, as in requestPanel; `start`, nodes that say what to do while there are no requests; `earlier`, of a running
 * broker: `find(id)` returns a promise of a request or undefined, also of one that the page has not, and `before` is that of
 * OlderSearch.
 * @param {any} journal
 * @param {Record<string, any>} [options]
 */
export function timelineView(journal, { parts = [], producers, header, likeThis, start = [], earlier } = {}) {
  const panel = element("aside", { class: "side", hidden: true });
  const count = element("output", { class: "count" });
  const links = {
    producers,
    header,
    likeThis,
    jump(requestId) {
      if (timeline.find(requestId) === undefined) {
        openEarlier(requestId);
        return;
      }
      // The button that was pressed is about to go away.
      timeline.scroller.focus({ preventScroll: true });
      timeline.jump(requestId);
    },
    close: () => closePanel(),
  };
  const timeline = new Timeline(journal, (entry) => openPanel(entry));
  const older = new OlderSearch(earlier, timeline, { onChange: (found) => searched(found), onError: (error) => notify(error.message, "failed") });
  timeline.onRemoved = (removed) => older.keep(removed);
  const filter = filterForm(journal, (conditions, name) => changeFilter(conditions, name));
  const lanes = laneChoice((by) => {
    timeline.setLanes(by);
    putAddress("lane");
  });
  const empty = emptyState("No requests", ...start);
  const emptySearch = emptyState("No request is selected", element("p", {}, "The filter selects none of the requests."));
  timeline.root.append(empty, emptySearch);
  timeline.onCount = () => showCounts();
  const pause = earlier === undefined ? null : button("Pause", () => setPaused(timeline.paused === null));
  const before = earlier === undefined ? null : button("Earlier", showEarlier, { hidden: true, title: "Load earlier requests" });

  let conditions = {};
  let opened = null;
  // The request of the address, until the journal has it: the stream sends it after the page has begun.
  let awaited = null;
  // What changed the address last.
  let lastChange = null;

  function showCounts() {
    const { length: shown } = timeline.requests.entries;
    const all = timeline.all.length;
    const texts = [shown === all ? countText(all, "request") : `${shown.toLocaleString("en")} of ${countText(all, "request")}`];
    if (older.state === "complete" && hasConditions(conditions)) texts[0] = `${countText(shown, "request")} of all that are kept`;
    else if (journal.skipped && !timeline.older.length && timeline.all[0] === journal.entries[0]) texts.push(`${journal.skipped.toLocaleString("en")} older ones not shown`);
    if (older.state === "searching") texts.push("searching the older ones…");
    if (older.state === "partly" && hasConditions(conditions)) texts.push("Earlier searches on");
    if (timeline.paused !== null) texts.push(`${newerCount().toLocaleString("en")} came after the pause`);
    count.textContent = texts.join(" · ");
    if (before !== null) before.hidden = !older.hasOlder || older.state === "complete" || older.state === "searching";
    empty.hidden = journal.entries.length > 0;
    emptySearch.hidden = !empty.hidden || older.state === "searching";
    filter.update();
  }

  function newerCount() {
    return journal.entries.length - firstFrom(journal.entries, (timeline.paused.at(-1)?.id ?? 0) + 1);
  }

  function setPaused(isPaused) {
    timeline.setPaused(isPaused);
    pause.textContent = isPaused ? "Resume" : "Pause";
    // Requests that came and went meanwhile are in the journal of the broker.
    if (!isPaused) older.begin(conditions);
  }

  function showEarlier() {
    // Without a filter the requests before these would be removed at once.
    if (!hasConditions(conditions) && timeline.paused === null) setPaused(true);
    older.more();
  }

  function searched(found) {
    showCounts();
    if (found === 0 && !hasConditions(conditions)) notify("No earlier request is kept", "done");
  }

  function changeFilter(chosen, name) {
    setFilter(chosen);
    putAddress(`filter ${name}`);
  }

  function setFilter(chosen) {
    conditions = chosen;
    timeline.setFilter(chosen);
    older.begin(chosen);
  }

  /** Open a request that the timeline does not have. */
  async function openEarlier(requestId) {
    try {
      const entry = await earlier?.find(requestId);
      if (entry === undefined) {
        notify(earlier === undefined ? `Request ${requestId} is not in this report` : `Request ${requestId} is no longer kept`, "failed");
        return;
      }
      timeline.mark(requestId);
      openPanel(entry);
    } catch (error) {
      notify(error.message, "failed");
    }
  }

  function openPanel(entry) {
    const step = opened === null ? OPENING : "selection";
    showPanel(entry);
    putAddress("selection", step);
  }

  function showPanel(entry) {
    opened = entry.id;
    panel.entry = entry;
    panel.hidden = false;
    fill(panel, requestPanel(entry, journal, links));
    root.classList.add("has-panel");
  }

  function hidePanel() {
    opened = null;
    panel.hidden = true;
    root.classList.remove("has-panel");
  }

  function closePanel() {
    timeline.scroller.focus();
    // Back from where the panel was opened leads to the view before, and not to the closed panel once more.
    if (root.isConnected && history.state === OPENING) {
      history.back();
      return;
    }
    hidePanel();
    putAddress(null, null);
  }

  /** Have the address name what is shown. Further changes of the same kind are one step of Back. */
  function putAddress(change, step = change) {
    if (!root.isConnected) return;
    const chosen = addressPartsOf(conditions, timeline.requests.by);
    showAddress("timeline", opened === null ? chosen : [opened, ...chosen], change === lastChange ? null : step);
    lastChange = change;
  }

  /** Show what an address names. */
  function follow(addressed) {
    const choice = choiceOf(addressed);
    lanes.value = LANES.includes(choice.by) ? choice.by : LANES[0];
    if (timeline.requests.by !== lanes.value) timeline.setLanes(lanes.value);
    filter.set(choice.filter);
    if (JSON.stringify(choice.filter) !== JSON.stringify(conditions)) setFilter(choice.filter);
    if (choice.id === null) hidePanel();
    else if (choice.id !== opened) awaited = choice.id;
    lastChange = null;
  }

  function openAwaited() {
    if (awaited === null || !root.isConnected || !journal.entries.length) return;
    const entry = journal.find(awaited);
    if (entry === undefined && journal.entries.at(-1).id < awaited) return;
    if (entry === undefined) {
      openEarlier(awaited);
    } else {
      // The timeline draws its requests later, and this one must be among them to be shown.
      timeline.update();
      timeline.centre(entry.id);
    }
    awaited = null;
  }

  function refresh() {
    older.requestsCame();
    openAwaited();
    const entry = opened === null ? undefined : journal.find(opened);
    if (entry !== undefined && panel.entry !== entry) showPanel(entry);
    panel.entry = entry;
  }
  journal.listeners.add(refresh);

  const root = element(
    "div",
    { class: "timeline-view", on: { keydown: (event) => event.key === "Escape" && opened !== null && closePanel() } },
    element("h1", { class: "hidden" }, "Timeline"),
    element(
      "div",
      { class: "tools" },
      filter.root,
      element("span", { class: "spacer" }),
      lanes,
      element(
        "span",
        { class: "group", role: "group", "aria-label": "Zoom" },
        button("−", () => timeline.setZoom(timeline.zoom - 1), { "aria-label": "Zoom out" }),
        button("+", () => timeline.setZoom(timeline.zoom + 1), { "aria-label": "Zoom in" }),
      ),
    ),
    element("div", { class: "timeline-and-panel" }, timeline.root, panel),
    // Below the chart: no tool moves when the text grows.
    element("div", { class: "tools status" }, pause, before, count),
  );
  follow(parts);
  timeline.update();
  return {
    root,
    moved(...addressed) {
      follow(addressed);
      openAwaited();
      return true;
    },
    shown() {
      // Outside of the document it could not scroll.
      timeline.measure();
      openAwaited();
    },
    close() {
      journal.listeners.delete(refresh);
      older.stop();
      timeline.close();
    },
  };
}

function laneChoice(onChange) {
  const choice = element("select", { "aria-label": "One lane per", on: { change: () => onChange(choice.value) } });
  choice.append(...LANES.map((by) => element("option", { value: by }, `lane: ${by}`)));
  return choice;
}
