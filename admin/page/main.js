// The page of a running broker: the views, the stream of events that feeds them, and the head of the page.

import { Actions } from "./actions.js";
import { Api } from "./api.js";
import { askForToken } from "./dialogs.js";
import { element, fill } from "./dom.js";
import { faultsView } from "./faults_view.js";
import { Journal } from "./journal.js";
import { likeThis } from "./like_this.js";
import { StatusBar } from "./status_bar.js";
import { timelineView } from "./timeline_view.js";

const journal = new Journal();
const api = new Api(askForToken);
const actions = new Actions(api);
const bar = new StatusBar(document.getElementById("bar"), api);

// By the name in the address. Each returns a view: `root`, `close()` and `changed(part)`, called when a part of the state changed.
const VIEWS = {
  timeline: {
    label: "Timeline",
    make: () =>
      timelineView(journal, {
        start: startHints(),
        producers: (topic, partition) =>
          api.list(`/v1/producers?topic=${encodeURIComponent(topic)}&partition=${partition}`),
        likeThis: (entry) => likeThis(entry, actions),
      }),
  },
  faults: { label: "Faults", make: (tab) => faultsView({ api, actions, journal }, tab) },
};

// The parts of the state whose changes the stream tells.
const PARTS = ["topics", "groups", "transactions", "rules", "files", "held", "nodes", "clock"];

let view = null;

function startHints() {
  return [element("p", {}, "Point a client at ", element("code", {}, bar.bootstrap ?? "the broker"), ".")];
}

function show() {
  const [name, ...rest] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const chosen = VIEWS[name] ?? VIEWS.timeline;
  view?.close();
  view = chosen.make(...rest);
  fill(document.getElementById("view"), view.root);
  fill(
    document.getElementById("views"),
    Object.entries(VIEWS).map(([key, { label }]) =>
      element("a", { href: `#${key}`, "aria-current": VIEWS[key] === chosen ? "page" : null }, label),
    ),
  );
}

function received(name, data) {
  if (name === "requests") {
    journal.add(data.items, data.skipped);
  } else if (name === "cleared") {
    journal.clear(data.through);
  } else if (name === "changed") {
    for (const [part, names] of Object.entries(data)) {
      bar.changed(part);
      view?.changed?.(part, names);
    }
  }
}

/** Show the state of the connection. What changed while there was none is read again. */
function connected(state, error) {
  bar.setConnection(state, error);
  if (state !== "live") return;
  bar.load();
  for (const part of PARTS) view?.changed?.(part, null);
}

addEventListener("hashchange", show);
await bar.load();
show();
api.stream(received, connected);
