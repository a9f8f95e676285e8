// Calls of the admin API, and its stream of events. The token is asked for once and kept for the tab.

import { takeSlot } from "./stream_slot.js";

const TOKEN_KEY = "fauxka-token";
const RETRY_MS = [250, 500, 1000, 2000, 5000];

/** A refused call. `error` is the API's error: field, value, allowed and message. */
class CallFailed extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

/** The admin API of the broker that served the page. */
export class Api {
  /** askForToken: returns a promise of the token; called when the API refuses a call without one. */
  constructor(askForToken) {
    this.askForToken = askForToken;
    this.token = sessionStorage.getItem(TOKEN_KEY);
    this.asking = null;
  }

  /** Return the body of the response. Throws CallFailed. */
  async call(method, path, body) {
    const options = { method };
    if (body !== undefined) options.body = JSON.stringify(body);
    const response = await this.fetched(path, options);
    return response.json();
  }

  get(path) {
    return this.call("GET", path);
  }

  /** Return all items of a list that the API returns in pages; at most `most` of them. */
  async list(path, most = 1000) {
    const items = [];
    let since = null;
    do {
      const next = since === null ? "" : `${path.includes("?") ? "&" : "?"}since=${encodeURIComponent(since)}`;
      const page = await this.get(path + next);
      items.push(...page.items);
      since = page.next;
    } while (since !== null && items.length < most);
    return items;
  }

  async fetched(path, options) {
    for (;;) {
      const headers = this.token === null ? {} : { Authorization: `Bearer ${this.token}` };
      const response = await fetch(path, { ...options, headers });
      if (response.ok) return response;
      if (response.status === 401) {
        await this.renewToken();
        continue;
      }
      throw new CallFailed(response.status, await errorOf(response));
    }
  }

  renewToken() {
    // Several calls may be refused at a time, and one question is enough.
    this.asking ??= this.askForToken(this.token !== null).then((token) => {
      // What no header can hold is no token of the broker, which refuses the other one.
      this.token = /^[\x21-\x7e]+$/.test(token) ? token : "invalid";
      sessionStorage.setItem(TOKEN_KEY, this.token);
      this.asking = null;
    });
    return this.asking;
  }

  /**
   * Receive events while the page is shown, and connect again when the connection ends. A hidden page holds no connection,
   * and a window waits while others have all the slots of stream_slot.js.
   * onEvent(name, data); onState("connecting" | "waiting" | "live" | "lost", error).
   */
  async stream(onEvent, onState) {
    let lastId = null;
    // Of the last connection. Another one behind the same address has other requests with the same ids.
    let broker = null;
    // -1 before the first connection.
    let failures = -1;
    for (;;) {
      await untilShown();
      const ended = new AbortController();
      document.addEventListener("visibilitychange", () => ended.abort(), { signal: ended.signal });
      const release = await takeSlot(ended.signal, () => onState("waiting", null));
      try {
        ended.signal.throwIfAborted();
        onState("connecting", null);
        const response = await this.fetched(`/v1/events${lastId === null ? "" : `?since=${lastId}`}`, { signal: ended.signal });
        for await (const event of eventsOf(response.body)) {
          // From its first event on, the stream tells every change.
          if (event.name === "opened") {
            const before = broker;
            ({ broker } = JSON.parse(event.data));
            if (lastId !== null && broker !== before) {
              lastId = null;
              onEvent("cleared", { through: Infinity });
              ended.abort();
              break;
            }
          }
          if (failures !== 0) onState("live", null);
          failures = 0;
          if (event.id !== null) lastId = event.id;
          if (event.name !== null) onEvent(event.name, JSON.parse(event.data));
        }
        if (!ended.signal.aborted) onState("lost", null);
      } catch (error) {
        if (!ended.signal.aborted) onState("lost", error);
      } finally {
        release?.();
      }
      if (ended.signal.aborted) {
        failures = -1;
        continue;
      }
      // It listens no more.
      ended.abort();
      failures = Math.max(failures, 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]));
    }
  }
}

/** Return a promise that is fulfilled when the page is shown. */
function untilShown() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", () => resolve(untilShown()), { once: true }));
}

async function errorOf(response) {
  try {
    return (await response.json()).error;
  } catch {
    return { field: null, value: null, allowed: null, message: `status ${response.status}` };
  }
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
