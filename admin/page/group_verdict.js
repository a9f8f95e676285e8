// The verdict on a group: what it got and committed of each partition, and a finding for what it got twice or never.

import { element } from "./dom.js";
import { countText, rangeText } from "./format.js";
import { numberText, stateLink, table } from "./live_view.js";
import { findingLinks } from "./verdict_parts.js";
import { problem, redraw, refreshed } from "./verdict_view.js";

const FINDINGS_MAX = 100;
// What became of the records of a share group, in the order of the columns.
const SHARE_COUNTS = ["acquired", "accepted", "released", "rejected", "archived", "locks_ended", "members_left"];

/** Return the part of a view that shows the verdict: `root`, `changed(part)` and `close()`. */
export function groupVerdictPart(api, journal, id) {
  const place = element("div", { class: "section" });
  async function read() {
    const verdict = await api.get(`/v1/verdict?group=${encodeURIComponent(id)}`).catch((error) => error);
    const parts = () => (verdict instanceof Error ? [problem(verdict.message)] : groupVerdictParts(verdict));
    redraw(place, verdict instanceof Error ? verdict.message : verdict, parts);
  }
  const root = element("section", { class: "section", "aria-label": "Verdict" }, element("h2", {}, "Verdict"), place);
  return refreshed(journal, read, root, place);
}

/** Return what is shown of a verdict. */
export function groupVerdictParts(verdict) {
  const { findings, partitions } = verdict;
  const more = findings.length - FINDINGS_MAX + verdict.findings_left_out;
  const shared = partitions.filter(({ share }) => share !== null);
  return [
    summary(verdict),
    partitions.length ? partitionsTable(partitions) : null,
    shared.length ? shareTable(shared) : null,
    findings.length ? element("ol", { class: "findings" }, findings.slice(0, FINDINGS_MAX).map(findingPart)) : null,
    more > 0 ? element("p", { class: "note" }, `And ${countText(more, "more finding")}.`) : null,
    verdict.notes.map((note) => element("p", { class: "note" }, note)),
  ];
}

function summary(verdict) {
  const count = verdict.findings.length + verdict.findings_left_out;
  const delivered = verdict.partitions.some((each) => each.delivered > 0);
  const [kind, tag, words] = count
    ? ["is-found", countText(count, "finding"), "The group got records twice or never, or a commit leads to that."]
    : delivered
      ? ["is-clean", "clean", "The group got each record once, and its commits go forward."]
      : ["", "nothing delivered", "The group got no record yet."];
  return element("p", { class: "summary" }, element("span", { class: `tag ${kind}` }, tag), element("span", {}, words));
}

function partitionsTable(partitions) {
  const heads = ["Topic", "Partition#", "Delivered#", "Processed#", "Known from", "Committed#", "Lag#"];
  return table("Delivered", heads, partitions, (each) => [
    stateLink("topics", each.topic),
    each.partition,
    numberText(each.delivered),
    numberText(each.processed),
    each.processed_from,
    each.committed === null ? "none" : numberText(each.committed),
    numberText(each.lag),
  ]);
}

function shareTable(partitions) {
  const heads = ["Topic", "Partition#", ...SHARE_COUNTS.map((name) => `${titleOf(name)}#`)];
  return table("Share group", heads, partitions, ({ topic, partition, share }) => [
    stateLink("topics", topic),
    partition,
    ...SHARE_COUNTS.map((name) => numberText(share[name])),
  ]);
}

function findingPart(finding) {
  const [first, last] = finding.offsets;
  const where = [`${finding.topic}-${finding.partition}`, `offset${first === last ? "" : "s"} ${rangeText(first, last)}`];
  if (finding.keys.length) where.push(`keys ${finding.keys.join(", ")}`);
  return element(
    "li",
    { class: "finding" },
    element("h3", {}, titleOf(finding.kind)),
    element("p", { class: "why" }, finding.why),
    element("p", { class: "mono meaning" }, where.join(" · ")),
    findingLinks(finding.request_ids, { topic: finding.topic, partition: finding.partition, offset: first }),
  );
}

/** Return a name of the API as a title. */
function titleOf(name) {
  return name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");
}
