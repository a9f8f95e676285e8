// The view of the transactional ids.

import { button, element, emptyState } from "./dom.js";
import { openForm } from "./form_dialog.js";
import { dateText, durationText } from "./format.js";
import { badge, liveView, stateLink, table } from "./live_view.js";

const IDS_MAX = 10000;
const TONES = { Ongoing: "waiting", PrepareCommit: "waiting", PrepareAbort: "cut", CompleteAbort: "cut" };

/** Return the view of all transactional ids. */
export function transactionsView(api, actions) {
  const view = liveView({
    title: "Transactions",
    parts: ["transactions"],
    read: () => api.list("/v1/transactions?limit=1000", IDS_MAX),
    draw(transactions) {
      if (!transactions.length) return emptyState("No transactions", element("p", {}, "A producer with a transactional.id appears here when it is initialised."));
      const heads = ["Transactional id", "State", "Producer id#", "Epoch#", "Timeout#", "Started", "Partitions", ""];
      return table("Transactions", heads, transactions, (each) => rowOf(each, actions, view));
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
    button("Delete", () => deleteTransaction(transaction, actions, view), { kind: "quiet", "aria-label": `Delete ${id}`, "data-key": `delete/${id}` }),
  ];
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
