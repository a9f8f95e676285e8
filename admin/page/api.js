// Calls of the admin API. The token is asked for once and kept for the tab.

const TOKEN_KEY = "fauxka-token";

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
}

async function errorOf(response) {
  try {
    return (await response.json()).error;
  } catch {
    return { field: null, value: null, allowed: null, message: `status ${response.status}` };
  }
}
