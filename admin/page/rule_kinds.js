// The two kinds of rules, for requests and for files: where they are, the parts of their forms, and a rule in words.

import { withoutDefaults } from "./copy_text.js";
import { FILE_FAMILIES } from "./declared.js";
import { familyOf } from "./journal.js";
import { textOfValue } from "./schema_fields.js";

function inWords(fields, separator = " · ") {
  const wordOf = (value) => (value === null ? "no limit" : textOfValue(value));
  const words = Object.entries(fields).map(([name, value]) => `${name.replaceAll("_", " ")} ${wordOf(value)}`);
  return words.join(separator);
}

function joined(...texts) {
  return texts.filter(Boolean).join(" · ");
}

const SHARED = [
  ["When", "When", "when."],
  ["Rule", null, "", ["name", "enabled"]],
];

/** Rules for requests and connections. parts: heading, model (null for that of the rule), prefix and names of their fields. */
export const REQUEST_RULES = {
  noun: "rule",
  path: "/v1/rules",
  matched: "request",
  model: "FaultRule",
  parts: [["Action", null, "", ["action", "point"]], ["Match", "Match", "match."], ...SHARED],
  first: { point: "applied", action: { kind: "close" } },
  familyOf: (info) => familyOf(info.action.kind),
  inWords(info) {
    const { match = {}, when = {}, point, action } = withoutDefaults(info);
    const { kind, ...fields } = action;
    const parameters = inWords(fields, " ");
    return joined(inWords(match) || "any request", `${kind}${parameters && ` ${parameters}`} at ${point}`, inWords(when));
  },
};

/** Rules for operations on files. */
export const FILE_RULES = {
  noun: "file rule",
  path: "/v1/files",
  matched: "operation",
  model: "FileRule",
  parts: [
    ["Action", null, "", ["action", "bytes", "ms", "crash"]],
    ["Files", null, "", ["operation", "node", "path", "folder", "file_kind"]],
    ...SHARED,
  ],
  first: { action: "disk_full" },
  familyOf: (info) => FILE_FAMILIES[info.action],
  inWords(info) {
    const { action, name, enabled, when = {}, bytes, ms, crash, ...files } = withoutDefaults(info);
    const given = Object.entries({ bytes, ms }).filter(([, value]) => value !== undefined);
    const parameters = joined(action, inWords(Object.fromEntries(given)), crash && "crash");
    return joined(inWords(files) || "any file", parameters, inWords(when));
  },
};
