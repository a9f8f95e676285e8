// The view of the transactional ids.

import { button, element, emptyState } from "./dom.js";
import { openForm } from "./form_dialog.js";
import { dateText, durationText } from "./format.js";
import { badge, liveView, stateLink, table } from "./live_view.js";
import { nameFilter } from "./name_filter.js";

const IDS_MAX = 10000;
const TONES = { Ongoing: "waiting", PrepareCommit: "waiting", PrepareAbort: "cut", CompleteAbort: "cut" };

// What is done to a transactional id, but its deletion: label, name in the path, what the notice says, and what it means.
const CHANGES = [
  {
    label: "Abort",
    name: "abort",
    done: "Aborted the transaction of",
    text: "As after its timeout: its records are not read with read_committed, and its producer is fenced.",
    isPossible: ({ state }) => state === "Ongoing",
  },
  {
    label: "Fence",
    name: "fence",
    done: "Fenced",
    text: "The id gets its next epoch, as from another producer with it. An open transaction is aborted; the producer's next request is refused.",
    isPossible: () => true,
  },
];

/** Return the view of all transactional ids. */
export function transactionsView(api, actions) {
  const filter = nameFilter("Transactions", () => view.redraw());
  const view = liveView({
    title: "Transactions",
    parts: ["transactions"],
    head: element("div", { class: "state-tools" }, filter.root),
    read: () => api.list("/v1/transactions?limit=1000", IDS_MAX),
    draw(transactions) {
      if (!transactions.length) return emptyState("No transactions", element("p", {}, "A producer with a transactional.id appears here when it is initialised."));
      const heads = [
        ["Transactional id", (each) => each.transactional_id],
        ["State", (each) => each.state],
        ["Producer id#", (each) => each.producer_id],
        ["Epoch#", (each) => each.producer_epoch],
        ["Timeout#", (each) => each.timeout_ms],
        ["Started", (each) => each.started_ms],
        ["Partitions", (each) => each.partitions.length],
        "",
        "",
      ];
      const found = transactions.filter((each) => filter.isShown(each.transactional_id));
      if (!found.length) return emptyState("No such transactional id", element("p", {}, "Search for another name."));
      return table("Transactions", heads, found, (each) => rowOf(each, actions, view));
    },
  });
  return view;
}

function rowOf(transaction, actions, view) {
  const id = transaction.transactional_id;
  const partitions = transaction.partitions.map(({ topic, partition }) => [stateLink("topics", topic, `${topic}-${partition}`), " "]);
  return [
    id,
    badge(transaction.state, TONES[transaction.state]),
    transaction.producer_id,
    transaction.producer_epoch,
    durationText(transaction.timeout_ms),
    transaction.started_ms === null ? "not yet" : dateText(transaction.started_ms),
    partitions.length ? partitions : "none",
    CHANGES.filter(({ isPossible }) => isPossible(transaction)).map((change) =>
      button(change.label, () => changeTransaction(change, id, actions, view), { kind: "quiet", "aria-label": `${change.label} ${id}`, "data-key": `${change.name}/${id}` }),
    ),
    button("Delete", () => deleteTransaction(transaction, actions, view), { kind: "quiet", "aria-label": `Delete ${id}`, "data-key": `delete/${id}` }),
  ];
}

function changeTransaction({ label, name, done, text }, id, actions, view) {
  openForm({
    title: `${label} ${id}?`,
    text,
    label,
    kind: "danger",
    async perform(_, onError) {
      const result = await actions.perform(`${done} ${id}`, "POST", `/v1/transactions/${encodeURIComponent(id)}/${name}`, undefined, { onError });
      view.refresh();
      return result;
    },
  });
}

function deleteTransaction({ transactional_id: id, state }, actions, view) {
  openForm({
    title: `Delete ${id}?`,
    text: `${state === "Ongoing" ? "Its open transaction is aborted first. " : ""}The producer's next request gets INVALID_PRODUCER_ID_MAPPING.`,
    label: "Delete",
    kind: "danger",
    async perform(_, onError) {
      const result = await actions.perform(`Deleted ${id}`, "DELETE", `/v1/transactions/${encodeURIComponent(id)}`, undefined, { onError });
      view.refresh();
      return result;
    },
  });
}
