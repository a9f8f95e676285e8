// The stream of events of the admin API: connected while the page is shown, and again when the connection ends.
//
// - A hidden page holds no connection. A shown one waits while other windows have all the slots of stream_slot.js.
// - After the id of its last event, a stream goes on where the one before ended. Another broker behind the same address has
//   other requests with the same ids: then the page begins anew.

import { takeSlot } from "./stream_slot.js";

const RETRY_MS = [250, 500, 1000, 2000, 5000];

/** The events of the broker, for `onEvent(name, data)` and `onState("connecting" | "waiting" | "live" | "lost", error)`. */
export class EventStream {
  constructor(api, onEvent, onState) {
    this.api = api;
    this.onEvent = onEvent;
    this.onState = onState;
    this.lastId = null;
    // Of the last connection.
    this.broker = null;
    // Connections that ended one after another; -1 before the first one.
    this.failures = -1;
  }

  /** Receive events as long as the page exists. */
  async run() {
    for (;;) {
      await untilShown();
      const ended = new AbortController();
      document.addEventListener("visibilitychange", () => ended.abort(), { signal: ended.signal });
      await this.receive(ended);
      if (ended.signal.aborted) {
        this.failures = -1;
        continue;
      }
      // It listens no more.
      ended.abort();
      this.failures = Math.max(this.failures, 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(this.failures, RETRY_MS.length) - 1]));
    }
  }

  /** Receive the events of one connection. */
  async receive(ended) {
    const { signal } = ended;
    const release = await takeSlot(signal, () => this.onState("waiting", null));
    try {
      signal.throwIfAborted();
      this.onState("connecting", null);
      const response = await this.api.fetched(`/v1/events${this.lastId === null ? "" : `?since=${this.lastId}`}`, { signal });
      for await (const event of eventsOf(response.body)) {
        if (event.name === "opened" && this.isOther(JSON.parse(event.data).broker)) {
          ended.abort();
          return;
        }
        this.take(event);
      }
      if (!signal.aborted) this.onState("lost", null);
    } catch (error) {
      if (!signal.aborted) this.onState("lost", error);
    } finally {
      release?.();
    }
  }

  /** Return whether the events so far are those of another broker; if so, forget them. */
  isOther(broker) {
    const isOther = this.lastId !== null && broker !== this.broker;
    this.broker = broker;
    if (isOther) {
      this.lastId = null;
      this.onEvent("cleared", { through: Infinity });
    }
    return isOther;
  }

  /** Hand an event on. From its first event on, the stream has every change. */
  take(event) {
    if (this.failures !== 0) this.onState("live", null);
    this.failures = 0;
    if (event.id !== null) this.lastId = event.id;
    if (event.name !== null) this.onEvent(event.name, JSON.parse(event.data));
  }
}

/** Return a promise that is fulfilled when the page is shown. */
function untilShown() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", () => resolve(untilShown()), { once: true }));
}

/** Yield the events of a body. Source: HTML Living Standard, 9.2.6; lines end in a line feed only. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) yield eventOf(block);
  }
}

function eventOf(block) {
  const event = { id: null, name: null, data: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    const value = line.slice(at + 2);
    if (line.startsWith("id: ")) event.id = value;
    else if (line.startsWith("event: ")) event.name = value;
    else if (line.startsWith("data: ")) event.data += value;
  }
  return event;
}
