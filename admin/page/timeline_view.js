// The view of the timeline: the filter, the zoom, the diagram and the panel of the selected request.

import { button, element, emptyState, fill } from "./dom.js";
import { countText } from "./format.js";
import { firstFrom } from "./journal.js";
import { addressOf } from "./navigation.js";
import { notify } from "./notices.js";
import { requestPanel } from "./request_panel.js";
import { Timeline } from "./timeline.js";

/**
 * Return the view: `root`, `close()` and `shown()`.
 * options: `id` of the request to open, as text; `producers`, `header` and `likeThis`, as in requestPanel; `start`, nodes that
 * say what to do while there are no requests; `earlier`, of a running broker: `find(id)` and `before(id)`
 * return promises of a request, or undefined, and of a list of the last ones before an id, also of those that the page has not.
 * @param {any} journal
 * @param {Record<string, any>} [options]
 */
export function timelineView(journal, { id = "", producers, header, likeThis, start = [], earlier } = {}) {
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
  const filter = filterForm(journal, (conditions) => timeline.setFilter(conditions));
  const empty = emptyState("No requests", ...start);
  timeline.root.append(empty);
  timeline.onCount = (shown) => {
    const all = timeline.all.length;
    count.textContent = shown === all ? countText(all, "request") : `${shown.toLocaleString("en")} of ${countText(all, "request")}`;
    if (journal.skipped && timeline.all[0] === journal.entries[0]) count.textContent += ` · ${journal.skipped.toLocaleString("en")} older ones not shown`;
    if (timeline.paused !== null) count.textContent += ` · ${newerCount().toLocaleString("en")} came after the pause`;
    if (before !== null) before.hidden = (timeline.all[0]?.id ?? 1) === 1;
    filter.update();
  };
  const pause = earlier === undefined ? null : button("Pause", () => setPaused(timeline.paused === null));
  const before = earlier === undefined ? null : button("Earlier", showEarlier, { hidden: true, title: "Pause, and load earlier requests" });

  let opened = null;
  // The request of the address, until the journal has it: the stream sends it after the page has begun.
  let awaited = Number(id) || null;

  function newerCount() {
    return journal.entries.length - firstFrom(journal.entries, (timeline.paused.at(-1)?.id ?? 0) + 1);
  }

  function setPaused(isPaused) {
    timeline.setPaused(isPaused);
    pause.textContent = isPaused ? "Resume" : "Pause";
  }

  async function showEarlier() {
    try {
      const found = await earlier.before(timeline.all[0].id);
      if (!found.length) {
        notify("No earlier request is kept", "done");
        return;
      }
      timeline.showEarlier(found);
      pause.textContent = "Resume";
    } catch (error) {
      notify(error.message, "failed");
    }
  }

  /** Open a request that the timeline does not have. */
  async function openEarlier(requestId) {
    try {
      const entry = await earlier?.find(requestId);
      if (entry === undefined) {
        notify(`Request ${requestId} is no longer kept`, "failed");
        return;
      }
      timeline.mark(requestId);
      openPanel(entry);
    } catch (error) {
      notify(error.message, "failed");
    }
  }

  function openPanel(entry) {
    opened = entry.id;
    panel.entry = entry;
    panel.hidden = false;
    fill(panel, requestPanel(entry, journal, links));
    root.classList.add("has-panel");
    showAddress(entry.id);
  }

  function closePanel() {
    opened = null;
    panel.hidden = true;
    root.classList.remove("has-panel");
    showAddress();
    timeline.scroller.focus();
  }

  /** Have the address name the request, for a reload or another person. Back leads to the view before. */
  function showAddress(...rest) {
    if (earlier !== undefined && root.isConnected) history.replaceState(null, "", addressOf("timeline", ...rest));
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
      timeline.jump(entry.id);
    }
    awaited = null;
  }

  function refresh() {
    openAwaited();
    const entry = opened === null ? undefined : journal.find(opened);
    if (entry !== undefined && panel.entry !== entry) openPanel(entry);
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
      laneChoice(timeline),
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
  timeline.update();
  return {
    root,
    shown() {
      // Outside of the document it could not scroll.
      timeline.measure();
      openAwaited();
    },
    close() {
      journal.listeners.delete(refresh);
      timeline.close();
    },
  };
}

function laneChoice(timeline) {
  const choice = element("select", { "aria-label": "One lane per", on: { change: () => timeline.setLanes(choice.value) } });
  choice.append(
    element("option", { value: "client" }, "lane: client"),
    element("option", { value: "connection" }, "lane: connection"),
    element("option", { value: "producer" }, "lane: producer"),
  );
  return choice;
}

/** Return the form of the conditions. `update()` offers the APIs and topics that there are. */
function filterForm(journal, onChange) {
  const api = element("select", { name: "api", "aria-label": "API" });
  const topic = element("select", { name: "topic", "aria-label": "Topic" });
  const field = (name, label, width) =>
    element("input", { name, placeholder: label, "aria-label": label, size: width, autocomplete: "off" });
  const form = element(
    "form",
    {
      class: "filter",
      role: "search",
      "aria-label": "Filter requests",
      on: { input: () => changed(), submit: (event) => event.preventDefault() },
    },
    api,
    topic,
    field("partition", "partition", 7),
    field("producer", "producer id", 9),
    field("client", "client id", 10),
    element("label", { class: "check" }, element("input", { type: "checkbox", name: "faults" }), "notable only"),
    button("Clear", () => {
      form.reset();
      changed();
    }, { kind: "quiet", name: "clear", hidden: true }),
  );

  function changed() {
    const data = new FormData(form);
    const conditions = Object.fromEntries([...data].map(([name, value]) => [name, String(value).trim()]));
    form.elements.clear.hidden = !Object.values(conditions).some(Boolean);
    onChange(conditions);
  }

  let offered = "";
  function update() {
    const { apis, topics } = journal;
    const version = `${apis.version} ${topics.version}`;
    if (version === offered) return;
    offered = version;
    offer(api, "any API", new Set(apis.names));
    offer(topic, "any topic", new Set(topics.names));
  }
  update();
  return { root: form, update };
}

function offer(select, all, names) {
  const chosen = select.value;
  fill(select, element("option", { value: "" }, all), [...names].sort().map((name) => element("option", { value: name }, name)));
  select.value = names.has(chosen) ? chosen : "";
}
