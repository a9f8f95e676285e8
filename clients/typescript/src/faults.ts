/** The recipes for the most frequent fault rules, and the handles of rules. */

import { type AdminClient, BrokerPart } from "./admin-client.js";
import type { Action, FaultRule, Match, Point, RuleInfo, Scope, When } from "./rules.js";

// Events that happen at all happen within milliseconds.
const AWAIT_TIMEOUT_MS = 5_000;

/** The requests that a recipe applies to: the next one, unless `times` is given. */
export type RequestSelection = Match & Pick<When, "times" | "skip"> & Pick<FaultRule, "name" | "enabled">;
/** The new connections that a recipe applies to. */
export type ConnectionSelection = Pick<
  RequestSelection,
  "node" | "listener" | "connection" | "times" | "skip" | "name" | "enabled"
>;
type Lossy = RequestSelection & { how?: "close" | "reset" | "drop" };
type Pointed<At = "received" | "applied"> = RequestSelection & { point?: At };
type Scoped = RequestSelection & { scope?: Scope };
type Restarting = RequestSelection & { restartAfterMs?: number | null };
type Armed = Promise<Rule>;

/** The handle of a rule. With `await using` it removes the rule at the end of the block. */
export class Rule {
  readonly #client: AdminClient;

  constructor(client: AdminClient, readonly id: number, readonly name: string) {
    this.#client = client;
  }

  /** Returns the rule with its counts and near misses. */
  info(): Promise<RuleInfo> { return this.#client.call("GET", `/v1/rules/${this.id}`); }

  /** Returns the number of requests that the rule has acted on. */
  async hits(): Promise<number> { return (await this.info()).hits; }

  /** Waits for at least count hits and returns their number. Throws WaitTimeoutError. */
  async awaitHits(count = 1, timeoutMs = AWAIT_TIMEOUT_MS): Promise<number> {
    const query = { hits: count, timeout_ms: timeoutMs };
    return (await this.#client.call<{ hits: number }>("GET", `/v1/rules/${this.id}/await`, undefined, query)).hits;
  }

  /** Removes the rule and returns its counts. */
  remove(): Promise<RuleInfo> { return this.#client.call("DELETE", `/v1/rules/${this.id}`); }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}

/** The fault rules of a broker. The recipes after `add` and `clear` are those of docs/faults.md. */
export class Faults extends BrokerPart {
  /** Adds a rule after the existing ones. */
  async add(rule: FaultRule): Promise<Rule> {
    const { id, name } = await this.client.call<RuleInfo>("POST", "/v1/rules", rule);
    return new Rule(this.client, id, name);
  }

  /** Removes all rules; held requests and hanging connections stay until a release or a reset. */
  async clear(): Promise<void> { await this.client.call("DELETE", "/v1/rules"); }

  /** Applies a Produce and loses its response. With "drop" the client waits for its request timeout. */
  lostAck({ how = "close", ...chosen }: Lossy = {}): Armed {
    return this.#produce("lost ack", "applied", { kind: how }, chosen);
  }

  /** Loses a Produce, which is neither applied nor answered. */
  lostRequest({ how = "drop", ...chosen }: Lossy = {}): Armed {
    return this.#produce("lost request", "received", { kind: how }, chosen);
  }

  /** Keeps the connection of a Produce open, and never sends its response and all later ones. */
  hang({ point = "applied", ...chosen }: Pointed = {}): Armed {
    return this.#produce("hang", point, { kind: "hang" }, chosen);
  }

  /** Closes the connection (FIN) instead of handling the request. */
  closedConnection(chosen: RequestSelection = {}): Armed {
    return this.#arm("closed connection", "received", { kind: "close" }, chosen);
  }

  /** Resets the connection (RST) instead of handling the request. */
  resetConnection(chosen: RequestSelection = {}): Armed {
    return this.#arm("reset connection", "received", { kind: "reset" }, chosen);
  }

  /** Applies a Produce twice; the client gets one response. */
  deliveredTwice(chosen: RequestSelection = {}): Armed {
    return this.#produce("delivered twice", "received", { kind: "deliver_twice" }, chosen);
  }

  /** Holds a Produce until `broker.held` releases it. */
  held({ point = "received", ...chosen }: Pointed = {}): Armed {
    return this.#produce("held", point, { kind: "hold" }, chosen);
  }

  /** Applies the request at once and responds ms later; later responses of the connection wait. */
  slowAnswers(ms: number, chosen: RequestSelection = {}): Armed {
    return this.#arm("slow answers", "applied", { kind: "delay", ms }, chosen);
  }

  /** Applies the request ms later; later requests of the connection are applied before it. */
  slowRequests(ms: number, chosen: RequestSelection = {}): Armed {
    return this.#arm("slow requests", "received", { kind: "delay", ms }, chosen);
  }

  /** Responds with an error, by Kafka's name or code, and does not apply the request. */
  refuse(error: string | number, { scope, ...chosen }: Scoped = {}): Armed {
    return this.#arm(`refuse ${error}`, "received", { kind: "error", error, scope }, chosen);
  }

  /** Applies a Produce and responds with an error. */
  falseError(error: string | number, { scope, ...chosen }: Scoped = {}): Armed {
    return this.#produce(`false ${error}`, "applied", { kind: "error", error, scope }, chosen);
  }

  /** Responds to a Produce with success and does not apply it. */
  falseSuccess(chosen: RequestSelection = {}): Armed {
    return this.#produce("false success", "received", { kind: "error", error: "NONE" }, chosen);
  }

  /** Crashes the node after it has applied a Produce. restartAfterMs: 0 by default; null for no restart. */
  crashAfterAppend({ restartAfterMs = 0, ...chosen }: Restarting = {}): Armed {
    return this.#produce("crash after append", "applied", { kind: "crash", restartAfterMs }, chosen);
  }

  /** Crashes the node before it applies a Produce. restartAfterMs: 0 by default; null for no restart. */
  crashBeforeAppend({ restartAfterMs = 0, ...chosen }: Restarting = {}): Armed {
    return this.#produce("crash before append", "received", { kind: "crash", restartAfterMs }, chosen);
  }

  /** Resets new connections before reading a byte. */
  refusedConnections(chosen: ConnectionSelection = {}): Armed {
    return this.#arm("refused connections", "accepted", { kind: "reset" }, chosen);
  }

  /** Only counts the requests, without a limit, so that a test can wait for them. */
  observed({ point = "received", ...chosen }: Pointed<Point> = {}): Armed {
    return this.#arm("observed", point, { kind: "observe" }, { times: null, ...chosen });
  }

  #produce(recipe: string, point: Point, action: Action, chosen: RequestSelection): Armed {
    return this.#arm(recipe, point, action, { api: "Produce", ...chosen });
  }

  #arm(recipe: string, point: Point, action: Action, chosen: RequestSelection): Armed {
    const { name = recipe, enabled, times, skip, ...match } = chosen;
    return this.add({ name, enabled, match, when: { times, skip }, point, action });
  }
}
