// The held requests, which are released one by one or in the order of the list. Rows are moved by dragging or by their buttons.

import { actionButton } from "./action_button.js";
import { card } from "./card.js";
import { button, element } from "./dom.js";
import { batchText, timeText } from "./format.js";
import { keyedList } from "./keyed_list.js";
import { badge } from "./live_view.js";

// As many as one call releases.
const HELD_MAX = 10000;

/** Return the list: `root` and `load()`, which reads the held requests. */
export function heldList({ api, actions }) {
  // Ids in the order of the release: that of arrival, unless they were moved.
  let order = [];
  let items = new Map();
  const list = keyedList("Held requests", {
    keyOf: (held) => held.id,
    makeRow: (held) => heldRow(held, { move, moveTo, place, release }),
    empty: "No request is held. The recipe Hold, or a rule with the action hold, holds the next ones here.",
  });
  const all = actionButton("Release all in this order", actions, () => releasing(order), { kind: "primary" });

  function show() {
    list.update(order.map((id) => items.get(id)));
    all.hidden = !order.length;
  }

  async function load() {
    const found = await api.list("/v1/held?limit=1000", HELD_MAX);
    items = new Map(found.map((held) => [held.id, held]));
    order = [...order.filter((id) => items.has(id)), ...found.map(({ id }) => id).filter((id) => !order.includes(id))];
    show();
  }

  function releasing(ids) {
    const arrived = [...items.keys()];
    const places = ids.map((id) => arrived.indexOf(id));
    const isAllAsArrived = ids.length === arrived.length && places.every((from, to) => from === to);
    return { method: "POST", path: "/v1/held/release", body: { ids }, places: isAllAsArrived ? undefined : places };
  }

  function release(id) {
    return actionButton("Release", actions, () => releasing([id]), { name: `Release held request ${id}` });
  }

  function place(id) {
    return { at: order.indexOf(id), of: order.length };
  }

  function moveTo(id, at) {
    order = order.filter((each) => each !== id);
    order.splice(at, 0, id);
    show();
  }

  function move(id, by) {
    const at = order.indexOf(id) + by;
    if (at >= 0 && at < order.length) moveTo(id, at);
  }

  return { root: card("Held requests", all, list.root), load };
}

function heldRow(held, { move, moveTo, place, release }) {
  const id = held.id;
  const moving = (label, symbol, by) =>
    button(symbol, ({ currentTarget }) => {
      move(id, by);
      if (currentTarget instanceof HTMLElement) currentTarget.focus();
    }, { kind: "quiet", "aria-label": `Move held request ${id} ${label}` });
  const closed = element("p", {}, badge("the client has closed its connection", "cut"));
  const up = moving("up", "↑", -1);
  const down = moving("down", "↓", 1);
  const root = element(
    "li",
    {
      class: "held",
      draggable: "true",
      on: {
        dragstart(event) {
          event.dataTransfer.setData("text/plain", String(id));
          event.dataTransfer.effectAllowed = "move";
        },
        dragover(event) {
          event.preventDefault();
          root.classList.add("is-target");
        },
        dragleave: () => root.classList.remove("is-target"),
        drop(event) {
          event.preventDefault();
          root.classList.remove("is-target");
          const dragged = Number(event.dataTransfer.getData("text/plain"));
          if (place(dragged).at >= 0 && dragged !== id) moveTo(dragged, place(id).at);
        },
      },
    },
    element("span", { class: "grip", "aria-hidden": "true" }, "⠿"),
    element(
      "div",
      { class: "held-text" },
      element("b", {}, `${held.api} of ${held.client_id ?? "no client id"}`),
      element("p", { class: "mono" }, heldText(held)),
      closed,
      element("p", {}, `${held.point} since ${timeText(held.since_ms)} · rule ${held.rule}`),
    ),
    up,
    down,
    release(id),
  );
  return {
    root,
    update({ client_closed: isClosed }) {
      closed.hidden = !isClosed;
      const { at, of } = place(id);
      up.disabled = at === 0;
      down.disabled = at === of - 1;
    },
  };
}

function heldText({ batches, topics }) {
  if (!batches.length) return topics.join(", ");
  return batches.map((batch) => `${batch.topic}-${batch.partition} ${batchText(batch)}`).join(", ");
}
