// Actions of the person at the page: calls of the admin API that change the broker, one after another in the order of the clicks.

import { copyButtons } from "./copy_panel.js";
import { notify } from "./notices.js";

// More than a person does; a page that is open for days keeps no more.
const DONE_MAX = 1000;

/** Performs actions and remembers them, so that they can be copied. */
export class Actions {
  constructor(api) {
    this.api = api;
    // {label, method, path, body, result} of each action that succeeded, oldest first.
    this.done = [];
    this.listeners = new Set();
    // The number of nodes of the broker, for copied tests.
    this.nodes = 1;
    // Ends with the last action that the next one waits for.
    this.earlier = Promise.resolve();
  }

  /** The broker as copied texts name it: `origin`, whether it has a token, and the number of its nodes. */
  get broker() {
    return { origin: location.origin, hasToken: this.api.token !== null, nodes: this.nodes };
  }

  /**
   * Perform an action and return the body of the response; null if it failed, which is shown.
   * onError: called with the API's error instead of a notice; of a failed connection it has no field. places: of released requests, for copied tests.
   * canBeHeld: later actions do not wait for this one; a rule may hold its request until one of them releases it.
   * @param {string} label
   * @param {string} method
   * @param {string} path
   * @param {any} [body]
   * @param {{onError?: ((error: any) => void) | null, places?: any, canBeHeld?: boolean}} [options]
   */
  perform(label, method, path, body, { canBeHeld = false, ...options } = {}) {
    // A browser sends calls of the same time over several connections, so that a second rule could be armed before the first.
    const performed = this.earlier.then(() => this.performNow(label, method, path, body, options));
    if (!canBeHeld) this.earlier = performed.catch(() => null);
    return performed;
  }

  async performNow(label, method, path, body, { onError = null, places = undefined }) {
    try {
      const result = await this.api.call(method, path, body);
      const action = { label, method, path, body, result, places };
      this.done.push(action);
      if (this.done.length > DONE_MAX) this.done.shift();
      notify(label, "done", copyButtons(action, this.broker));
      this.changed();
      return result;
    } catch (error) {
      if (onError !== null) onError(error.error ?? { field: null, message: `${label}: ${error.message}` });
      else notify(`${label}: ${error.message}`, "failed");
      return null;
    }
  }

  /** Forget what was done. */
  clear() {
    this.done = [];
    this.changed();
  }

  changed() {
    for (const listener of this.listeners) listener();
  }
}
