// The recipes of fauxka's Python API: the most frequent fault rules, by name. Source: faults/rules/recipes.py.

const PRODUCE = { api: "Produce" };
const ANY_API = {};
const how = (...options) => ({ name: "how", label: "how", options, as: "kind" });
const point = (...options) => ({ name: "point", label: "at", options });
const number = (name, value, more = {}) => ({ name, label: name.replaceAll("_", " "), value, ...more });
const bytes = (value, more = {}) => ({ ...number("byte_count", value, more), label: "bytes", as: "bytes" });
const error = (value) => ({ name: "error", label: "error", value, isRequired: true });
const NEEDED = { isRequired: true };

// Name of the method, label, effect, match, point, kind of the action, own arguments. An argument is the field of the action
// with its name, or the one in `as`; `value` or the first of `options` is its default.
const ROWS = {
  "Lost responses and requests": [
    ["lost_ack", "Lose the next acknowledgement", "Applied; its connection ends instead of the response.", PRODUCE, "applied", "close", how("close", "reset", "drop")],
    ["lost_request", "Lose the next request", "Neither applied nor answered.", PRODUCE, "received", "drop", how("drop", "close", "reset")],
    ["hang", "Hang", "The connection stays open, without further responses.", PRODUCE, "applied", "hang", point("applied", "received")],
    ["closed_connection", "Close the connection", "It ends (FIN) instead of the handling.", ANY_API, "received", "close"],
    ["reset_connection", "Reset the connection", "It ends (RST) instead of the handling.", ANY_API, "received", "reset"],
  ],
  "Duplicates and order": [
    ["delivered_twice", "Deliver twice", "Applied twice, with one response.", PRODUCE, "received", "deliver_twice"],
    ["overtaken", "Let later requests overtake", "Applied late, after later requests of its connection.", PRODUCE, "received", "delay", number("ms", 500)],
    ["held", "Hold", "Waits until it is released.", PRODUCE, "received", "hold", point("received", "applied")],
  ],
  Delays: [
    ["slow_answers", "Delay the response", "Applied at once; this response and later ones wait.", ANY_API, "applied", "delay", number("ms", 500, NEEDED)],
    ["slow_requests", "Delay the request", "Applied later.", ANY_API, "received", "delay", number("ms", 500, NEEDED)],
    ["throttled", "Throttle", "Its response has this throttle_time_ms.", PRODUCE, "applied", "throttle", number("ms", 1000, NEEDED)],
  ],
  "Errors and false responses": [
    ["refuse", "Respond with an error", "Nothing is applied.", ANY_API, "received", "error", error("NOT_LEADER_OR_FOLLOWER")],
    ["false_error", "Apply, and respond with an error", "The batch is in the log.", PRODUCE, "applied", "error", error("REQUEST_TIMED_OUT")],
    ["false_success", "Respond with a false success", "Nothing is applied.", PRODUCE, "received", { kind: "error", error: "NONE" }],
    [
      ...["rejected_login", "Reject a login", "The next client that authenticates is an unknown user.", { api: "SaslAuthenticate" }],
      ...["received", { kind: "error", error: "SASL_AUTHENTICATION_FAILED" }],
    ],
  ],
  Crashes: [
    ["crash_after_append", "Crash after the append", "As by SIGKILL, before the response.", PRODUCE, "applied", "crash", number("restart_after_ms", 0)],
    ["crash_before_append", "Crash before the append", "As by SIGKILL, before it is applied.", PRODUCE, "received", "crash", number("restart_after_ms", 0)],
  ],
  "Bytes of the response": [
    ["cut_answers", "Cut the response", "After its first bytes the connection ends.", ANY_API, "answering", "truncate", bytes(10, NEEDED)],
    ["corrupt_answers", "Corrupt the response", "Flips the bits of its bytes.", ANY_API, "answering", "corrupt", number("at", 8, NEEDED), bytes(1)],
    ["dripping_answers", "Drip the response", "Sends it in pieces.", ANY_API, "answering", "drip", bytes(10, NEEDED), number("every_ms", 100, NEEDED)],
  ],
  "Connections and counts": [
    ["refused_connections", "Refuse the next connection", "Whoever makes it: it is reset.", null, "accepted", "reset"],
    ["hanging_connections", "Let the next connection hang", "Whoever makes it: it is never read.", null, "accepted", "hang"],
    ["observed", "Only count", "A test can wait for these requests.", ANY_API, "received", "observe", point("received", "applied", "answering", "accepted")],
  ],
};

/**
 * The recipes by their group. match: the conditions of the recipe itself, null for one of connections.
 * action: of the rule, with the defaults of `fields`.
 */
export const RECIPES = Object.entries(ROWS).map(([group, rows]) => ({
  group,
  recipes: rows.map(([name, label, effect, match, at, kind, ...fields]) => ({
    ...{ name, label, effect, match, point: at, fields },
    action: typeof kind === "string" ? { kind } : kind,
    // A rule that only counts has no limit.
    times: name === "observed" ? null : 1,
  })),
}));
