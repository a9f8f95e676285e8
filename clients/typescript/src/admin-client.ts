/** Calls of the admin API over HTTP. Their promises are rejected with a FauxkaError. */

import { FauxkaError, type NearMiss, WaitTimeoutError } from "./errors.js";
import { fromWire, toWire } from "./wire.js";

// The greatest page that the API returns.
const LIMIT_MAX = 10_000;

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;
type Page<Item> = { items: Item[]; next: string | null };
type ErrorBody = { error: { field: string | null; message: string }; hits?: number; nearMisses?: NearMiss[] };

export class AdminClient {
  readonly #headers: Record<string, string>;

  /** address: "http://host:port". token: of --admin-token. */
  constructor(readonly address: string, { token }: { token?: string } = {}) {
    this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  }

  /**
   * Sends a call and returns the body of its response. body and response have camelCase names. query has those of the
   * API; what is null or undefined there is left out.
   */
  async call<Result>(method: Method, path: string, body?: object, query: Query = {}): Promise<Result> {
    const url = new URL(path, this.address);
    for (const [name, value] of Object.entries(query)) {
      if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
    }
    const content = body === undefined ? null : JSON.stringify(toWire(body));
    const response = await fetch(url, { method, headers: this.#headers, body: content }).catch((cause: unknown) => {
      throw new FauxkaError(`no response from ${this.address}`, null, null, { cause });
    });
    const text = await response.text();
    if (!response.ok) throw errorOf(response.status, text);
    return fromWire(JSON.parse(text)) as Result;
  }

  /** Sends a call that returns a whole list. */
  async items<Item>(method: Method, path: string, body?: object): Promise<Item[]> {
    return (await this.call<{ items: Item[] }>(method, path, body)).items;
  }

  /** Returns the items of all pages of a list, at most itemsMax. */
  async pages<Item>(path: string, query: Query = {}, itemsMax = Infinity): Promise<Item[]> {
    const items: Item[] = [];
    let since = query.since;
    while (since !== null && items.length < itemsMax) {
      const limit = Math.min(LIMIT_MAX, itemsMax - items.length);
      const page = await this.call<Page<Item>>("GET", path, undefined, { ...query, since, limit });
      items.push(...page.items);
      since = page.next;
    }
    return items;
  }
}

/** A part of a broker, such as its clock. */
export class BrokerPart {
  constructor(protected readonly client: AdminClient) {}
}

function errorOf(status: number, text: string): FauxkaError {
  let body: ErrorBody;
  try {
    body = fromWire(JSON.parse(text)) as ErrorBody;
  } catch (cause) {
    return new FauxkaError(`status ${status} and no response of fauxka: ${text}`, status, null, { cause });
  }
  const { message, field } = body.error;
  if (body.hits !== undefined) return new WaitTimeoutError(message, body.hits, body.nearMisses ?? []);
  return new FauxkaError(message, status, field);
}
