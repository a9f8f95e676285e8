// The two kinds of rules, for requests and for files: where they are, how their forms look, and how a rule is told in words.

import { element, fill } from "./dom.js";
import { withoutDefaults } from "./copy_text.js";
import { textOfValue } from "./schema_fields.js";

// The parameters of each action of a file fault rule. Source: faults/files/file_rules.py.
const FILE_PARAMETERS = { tear: ["bytes", "crash"], slow: ["ms"], corrupt: ["bytes"] };
const COMMON = ["name", "enabled"];

/** Return a rule's match in words. */
function matchText(match, names) {
  const given = names.filter((name) => match[name] !== undefined && match[name] !== null);
  return given.map((name) => `${name.replaceAll("_", " ")} ${textOfValue(match[name], "")}`).join(" · ");
}

function whenText(when) {
  const given = Object.entries(when ?? {});
  return given.map(([name, value]) => `${name.replaceAll("_", " ")} ${value === null ? "no limit" : value}`).join(" · ");
}

function parametersText(fields) {
  return Object.entries(fields)
    .map(([name, value]) => ` ${name.replaceAll("_", " ")} ${textOfValue(value, "")}`)
    .join("");
}

/** Rules for requests and connections. */
export const REQUEST_RULES = {
  noun: "rule",
  path: "/v1/rules",
  part: "rules",
  matched: "request",
  text(info) {
    const { match = {}, when, point, action } = withoutDefaults(info);
    const { kind, ...fields } = action;
    const which = matchText(match, Object.keys(match)) || "any request";
    return [which, `${kind}${parametersText(fields)} at ${point}`, whenText(when)].filter(Boolean).join(" · ");
  },
  kindOf: (info) => info.action.kind,
  layout(form) {
    form.action = element("select", { name: "action.kind", "aria-describedby": "error-action.kind" });
    const kinds = Object.keys(form.schemas.model("FaultRule").properties.action.discriminator.mapping);
    fill(form.action, kinds.map((kind) => element("option", {}, kind)));
    form.kinds = form.schemas.model("FaultRule").properties.action.discriminator.mapping;
    const act = form.part("Action", "FaultRule", "", ["point"]);
    act.querySelector(".fields").prepend(
      element(
        "div",
        { class: "field" },
        element("label", {}, element("span", {}, "action"), form.action),
        element("p", { class: "error", id: "error-action.kind", hidden: true }),
      ),
    );
    act.querySelector(".fields").append(form.parts);
    return [
      act,
      form.part("Match", "Match", "match."),
      form.part("When", "When", "when."),
      form.part("Rule", "FaultRule", "", COMMON),
    ];
  },
  prepare(form, rule) {
    form.inputs.set("action.kind", form.action);
    form.fields.set("action.kind", { kind: "choice", default: null });
    form.action.value = rule.action?.kind ?? "close";
    this.chosen(form, "action.kind");
    if (rule.point === undefined) form.inputs.get("point").value = "applied";
  },
  /** Offer the points that the action allows, and its parameters. */
  chosen(form, name) {
    if (name !== "action.kind") return;
    const model = { $ref: form.kinds[form.action.value] };
    const point = form.inputs.get("point");
    const points = form.schemas.model(model)["x-points"];
    const before = point.value;
    fill(point, points.map((each) => element("option", {}, each)));
    point.value = points.includes(before) ? before : points[0];
    form.remove("action.");
    form.inputs.set("action.kind", form.action);
    form.fields.set("action.kind", { kind: "choice", default: null });
    const fields = form.schemas.fieldsOf(model).filter((field) => field.name !== "kind");
    fill(form.parts, fields.map((field) => form.labeled(`action.${field.name}`, field)));
  },
  finish: (rule) => rule,
};

/** Rules for operations on files. */
export const FILE_RULES = {
  noun: "file rule",
  path: "/v1/files",
  part: "files",
  matched: "operation",
  text(info) {
    const { action, name, enabled, when, bytes, ms, crash, ...match } = withoutDefaults(info);
    const parameters = parametersText({ ...(bytes === undefined ? {} : { bytes }), ...(ms === undefined ? {} : { ms }) });
    const which = matchText(match, Object.keys(match)) || "any file";
    return [which, `${action}${parameters}${crash === undefined ? "" : " and crash"}`, whenText(when)].filter(Boolean).join(" · ");
  },
  kindOf: (info) => (["slow", "corrupt"].includes(info.action) ? { slow: "delay", corrupt: "corrupt" }[info.action] : "close"),
  layout: (form) => [
    form.part("Action", "FileRule", "", ["action", "bytes", "ms"]),
    crashPart(form),
    form.part("Files", "FileRule", "", ["operation", "node", "path", "folder", "file_kind"]),
    form.part("When", "When", "when."),
    form.part("Rule", "FileRule", "", COMMON),
  ],
  prepare(form, rule) {
    form.crash.checked = rule.crash !== undefined && rule.crash !== null;
    if (rule.action === undefined) form.inputs.get("action").value = "disk_full";
  },
  /** Show the parameters that the action has. */
  chosen(form) {
    const shown = FILE_PARAMETERS[form.inputs.get("action").value] ?? [];
    for (const name of ["bytes", "ms"]) form.inputs.get(name).closest(".field").hidden = !shown.includes(name);
    form.crashPart.hidden = !shown.includes("crash");
  },
  /** Leave out the parameters that are not shown, and add the crash. */
  finish(rule, form) {
    const { bytes, ms, crash, ...kept } = rule;
    const shown = FILE_PARAMETERS[rule.action] ?? [];
    if (shown.includes("bytes") && bytes !== undefined) kept.bytes = bytes;
    if (shown.includes("ms") && ms !== undefined) kept.ms = ms;
    if (shown.includes("crash") && form.crash.checked) kept.crash = crash ?? { restart_after_ms: null };
    return kept;
  },
};

function crashPart(form) {
  form.crash = element("input", { type: "checkbox", name: "crash" });
  const part = form.part("Crash", "FileCrash", "crash.");
  part.querySelector(".fields").prepend(element("label", { class: "check" }, form.crash, "crash the node"));
  part.querySelector('[name="crash.restart_after_ms"]').placeholder = "never";
  form.crashPart = part;
  return part;
}
