// The page of a running broker: the views, the stream of events that feeds them, and the head of the page.

import { Actions } from "./actions.js";
import { Api } from "./api.js";
import { headerOf } from "./batch_header.js";
import { askForToken } from "./dialogs.js";
import { element } from "./dom.js";
import { EventStream } from "./event_stream.js";
import { faultsView } from "./faults_view.js";
import { groupsView } from "./groups_view.js";
import { Journal } from "./journal.js";
import { likeThis } from "./like_this.js";
import { Navigation } from "./navigation.js";
import { nodesView } from "./nodes_view.js";
import { queryOf } from "./request_filter.js";
import { StatusBar } from "./status_bar.js";
import { timelineView } from "./timeline_view.js";
import { topicsView } from "./topics_view.js";
import { transactionsView } from "./transactions_view.js";
import { Verdicts } from "./verdict_source.js";
import { badgeOf } from "./verdict_parts.js";
import { verdictView } from "./verdict_view.js";

const journal = new Journal();
const api = new Api(askForToken);
const actions = new Actions(api);
const verdicts = new Verdicts(api, journal);
const bar = new StatusBar(document.getElementById("bar"), api);

// By the name in the address. Each returns a view: `root`, `close()` and `changed(part)`, called when a part of the state changed.
const VIEWS = {
  timeline: {
    label: "Timeline",
    make: (...parts) =>
      timelineView(journal, {
        parts,
        start: startHints(),
        earlier: {
          find: async (requestId) => (await journalAfter(requestId - 1, 1)).find((entry) => entry.id === requestId),
          before: earlierRequests,
        },
        producers: (topic, producerId) => api.list(`/v1/producers?topic=${encodeURIComponent(topic)}&producer_id=${producerId}`, Infinity),
        header: (batch) => headerOf(api, batch),
        likeThis: (entry) => likeThis(entry, actions),
      }),
  },
  topics: { label: "Topics", make: (...rest) => topicsView({ api, actions, verdicts }, ...rest) },
  groups: { label: "Groups", make: (id) => groupsView({ api, actions, journal, verdicts }, id) },
  transactions: { label: "Transactions", make: () => transactionsView(api, actions) },
  nodes: { label: "Nodes", make: () => nodesView(api, actions) },
  verdict: { label: "Verdict", make: (topic, eventId) => verdictView(journal, verdicts, topic, eventId) },
  faults: { label: "Faults", make: (tab) => faultsView({ api, actions, journal }, tab) },
};
const navigation = new Navigation(VIEWS, document.getElementById("views"), document.getElementById("view"));

// Earlier requests that are loaded at a time.
const EARLIER_MAX = 1000;
// The parts of the state whose changes the stream tells.
const PARTS = ["topics", "groups", "transactions", "rules", "files", "held", "nodes", "clock"];

/** Return a promise of requests after an id, also of those that the page has not. */
async function journalAfter(since, limit) {
  return (await api.get(`/v1/journal?since=${since}&limit=${limit}`)).items;
}

/** Return a promise of the newest requests before an id that a filter selects, as OlderSearch needs it. */
async function earlierRequests(id, filter, signal) {
  const query = queryOf(filter);
  if (query === null) return { items: [], isComplete: true };
  query.set("before", id);
  query.set("limit", String(EARLIER_MAX));
  const response = await api.fetched(`/v1/journal?${query}`, { signal });
  const { items, next } = await response.json();
  return { items: items.reverse(), isComplete: next === null };
}

function startHints() {
  const address = element("code", {}, "the broker");
  bar.loaded.then(() => address.replaceChildren(bar.bootstrap));
  return [
    element("p", {}, "Requests appear here as clients send them."),
    element("p", {}, "Point a client at ", address, "."),
  ];
}

function received(name, data) {
  if (name === "requests") {
    journal.add(data.items, data.skipped);
  } else if (name === "marks") {
    journal.addMarks(data.items);
  } else if (name === "cleared") {
    journal.clear(data.through);
  } else if (name === "changed") {
    for (const [part, names] of Object.entries(data)) {
      bar.changed(part);
      if (part === "topics" || part === "groups") verdicts.ask();
      navigation.changed(part, names);
    }
  }
}

/** Show the state of the connection. What changed while there was none is read again. */
function connected(state, error) {
  bar.setConnection(state, error);
  if (state !== "live") return;
  bar.load();
  verdicts.ask();
  for (const part of PARTS) navigation.changed(part, null);
}

verdicts.listeners.add(() => navigation.showBadge("verdict", badgeOf(verdicts)));
bar.onLoad = () => navigation.showTitle(`fauxka ${bar.bootstrap}`);
bar.load();
navigation.show();
new EventStream(api, received, connected).run();
