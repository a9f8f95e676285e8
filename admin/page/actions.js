// Actions of the person at the page: calls of the admin API that change the broker.

import { notify } from "./notices.js";

/** Performs actions and remembers them, so that they can be copied. */
export class Actions {
  constructor(api) {
    this.api = api;
    // {label, method, path, body} of each action that succeeded, oldest first.
    this.done = [];
    this.listeners = new Set();
  }

  /**
   * Perform an action and return the body of the response; null if it failed, which is shown.
   * onError: called with the API's error instead of a notice.
   */
  async perform(label, method, path, body, { onError = null } = {}) {
    try {
      const result = await this.api.call(method, path, body);
      this.done.push({ label, method, path, body });
      notify(label);
      for (const listener of this.listeners) listener();
      return result;
    } catch (error) {
      if (onError !== null && error.error !== undefined) onError(error.error);
      else notify(`${label}: ${error.message}`, "failed");
      return null;
    }
  }
}
