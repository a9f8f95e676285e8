// The recipes of fauxka's Python API: the most frequent fault rules, by name. Source: faults/rules/recipes.py.

const MS = { name: "ms", label: "ms", value: 500 };
const HOW = { name: "how", label: "how", options: ["close", "reset", "drop"] };
const BACK = { name: "restart_after_ms", label: "restart after ms", value: 0 };

/**
 * The recipes. Each has `name` (of the Python method), `label`, `effect`, `rule` (name, point and action of its rule), and, if
 * they are not the usual ones: `api` (Produce), `fields` (arguments of its own, which are those of the action under the same
 * name, or the one in `as`; `value` or the first of `options` is the default), `times` (1) and `isOfConnections`.
 */
export const RECIPES = [
  {
    group: "Lost responses and requests",
    recipes: [
      {
        name: "lost_ack",
        label: "Lose the next acknowledgement",
        effect: "The request is applied, and the connection ends instead of the response.",
        rule: (how) => ({ name: "lost ack", point: "applied", action: { kind: how } }),
        fields: [{ ...HOW, as: "kind" }],
      },
      {
        name: "lost_request",
        label: "Lose the next request",
        effect: "It is neither applied nor answered.",
        rule: (how) => ({ name: "lost request", point: "received", action: { kind: how } }),
        fields: [{ ...HOW, options: ["drop", "close", "reset"], as: "kind" }],
      },
      {
        name: "hang",
        label: "Hang",
        effect: "The connection stays open, and sends no further response.",
        rule: (point) => ({ name: "hang", point, action: { kind: "hang" } }),
        fields: [{ name: "point", label: "point", options: ["applied", "received"] }],
      },
      {
        name: "closed_connection",
        label: "Close the connection",
        effect: "The connection ends (FIN) instead of the handling of the request.",
        api: null,
        rule: () => ({ name: "closed connection", point: "received", action: { kind: "close" } }),
      },
      {
        name: "reset_connection",
        label: "Reset the connection",
        effect: "The same with RST.",
        api: null,
        rule: () => ({ name: "reset connection", point: "received", action: { kind: "reset" } }),
      },
    ],
  },
  {
    group: "Duplicates and order",
    recipes: [
      {
        name: "delivered_twice",
        label: "Deliver twice",
        effect: "The request is applied twice; the client gets one response.",
        rule: () => ({ name: "delivered twice", point: "received", action: { kind: "deliver_twice" } }),
      },
      {
        name: "overtaken",
        label: "Let later requests overtake",
        effect: "The request is applied late, after later requests of its connection.",
        rule: (ms) => ({ name: "overtaken", point: "received", action: { kind: "delay", ms } }),
        fields: [MS],
      },
      {
        name: "held",
        label: "Hold",
        effect: "The request waits until it is released below.",
        rule: (point) => ({ name: "held", point, action: { kind: "hold" } }),
        fields: [{ name: "point", label: "point", options: ["received", "applied"] }],
      },
    ],
  },
  {
    group: "Delays",
    recipes: [
      {
        name: "slow_answers",
        label: "Delay the response",
        effect: "The request is applied at once; this response and later ones wait.",
        api: null,
        rule: (ms) => ({ name: "slow answers", point: "applied", action: { kind: "delay", ms } }),
        fields: [{ ...MS, isRequired: true }],
      },
      {
        name: "slow_requests",
        label: "Delay the request",
        effect: "The request is applied later.",
        api: null,
        rule: (ms) => ({ name: "slow requests", point: "received", action: { kind: "delay", ms } }),
        fields: [{ ...MS, isRequired: true }],
      },
      {
        name: "throttled",
        label: "Throttle",
        effect: "The response has this throttle_time_ms.",
        rule: (ms) => ({ name: "throttled", point: "applied", action: { kind: "throttle", ms } }),
        fields: [{ ...MS, value: 1000, isRequired: true }],
      },
    ],
  },
  {
    group: "Errors and false responses",
    recipes: [
      {
        name: "refuse",
        label: "Respond with an error",
        effect: "Nothing is applied.",
        api: null,
        rule: (error) => ({ name: `refuse ${error}`, point: "received", action: { kind: "error", error } }),
        fields: [{ name: "error", label: "error", value: "NOT_LEADER_OR_FOLLOWER", isRequired: true }],
      },
      {
        name: "false_error",
        label: "Apply, and respond with an error",
        effect: "The batch is in the log.",
        rule: (error) => ({ name: `false ${error}`, point: "applied", action: { kind: "error", error } }),
        fields: [{ name: "error", label: "error", value: "REQUEST_TIMED_OUT", isRequired: true }],
      },
      {
        name: "false_success",
        label: "Respond with a false success",
        effect: "Nothing is applied.",
        rule: () => ({ name: "false success", point: "received", action: { kind: "error", error: "NONE" } }),
      },
      {
        name: "rejected_login",
        label: "Reject a login",
        effect: "The next client that authenticates gets the response to an unknown user.",
        api: "SaslAuthenticate",
        rule: () => ({ name: "rejected login", point: "received", action: { kind: "error", error: "SASL_AUTHENTICATION_FAILED" } }),
      },
    ],
  },
  {
    group: "Crashes",
    recipes: [
      {
        name: "crash_after_append",
        label: "Crash after the append",
        effect: "The node dies as by SIGKILL, before the response.",
        rule: (ms) => ({ name: "crash after append", point: "applied", action: { kind: "crash", restart_after_ms: ms } }),
        fields: [BACK],
      },
      {
        name: "crash_before_append",
        label: "Crash before the append",
        effect: "The node dies as by SIGKILL, before the request is applied.",
        rule: (ms) => ({ name: "crash before append", point: "received", action: { kind: "crash", restart_after_ms: ms } }),
        fields: [BACK],
      },
    ],
  },
  {
    group: "Bytes of the response",
    recipes: [
      {
        name: "cut_answers",
        label: "Cut the response",
        effect: "Only its first bytes are sent, size field included; then the connection ends.",
        api: null,
        rule: (bytes) => ({ name: "cut answers", point: "answering", action: { kind: "truncate", bytes } }),
        fields: [{ name: "byte_count", label: "bytes", value: 10, as: "bytes", isRequired: true }],
      },
      {
        name: "corrupt_answers",
        label: "Corrupt the response",
        effect: "Flips the bits of bytes from a position on.",
        api: null,
        rule: (at, bytes) => ({ name: "corrupt answers", point: "answering", action: { kind: "corrupt", at, bytes } }),
        fields: [
          { name: "at", label: "position", value: 8, isRequired: true },
          { name: "byte_count", label: "bytes", value: 1, as: "bytes" },
        ],
      },
      {
        name: "dripping_answers",
        label: "Drip the response",
        effect: "Sends it in pieces.",
        api: null,
        rule: (bytes, every) => ({ name: "dripping answers", point: "answering", action: { kind: "drip", bytes, every_ms: every } }),
        fields: [
          { name: "byte_count", label: "bytes", value: 10, as: "bytes", isRequired: true },
          { name: "every_ms", label: "every ms", value: 100, isRequired: true },
        ],
      },
    ],
  },
  {
    group: "Connections",
    recipes: [
      {
        name: "refused_connections",
        label: "Refuse the next connection",
        effect: "It is reset before a byte is read. Topic, partition and client do not apply.",
        api: null,
        isOfConnections: true,
        rule: () => ({ name: "refused connections", point: "accepted", action: { kind: "reset" } }),
      },
      {
        name: "hanging_connections",
        label: "Let the next connection hang",
        effect: "It is accepted and never read. Topic, partition and client do not apply.",
        api: null,
        isOfConnections: true,
        rule: () => ({ name: "hanging connections", point: "accepted", action: { kind: "hang" } }),
      },
      {
        name: "observed",
        label: "Only count",
        effect: "Counts requests, so that a test can wait for them.",
        api: null,
        times: null,
        rule: (point) => ({ name: "observed", point, action: { kind: "observe" } }),
        fields: [{ name: "point", label: "point", options: ["received", "applied", "answering", "accepted"] }],
      },
    ],
  },
];
