// The page of a report: the views of one run, from the data in the document. It needs no broker.

import { element, fill } from "./dom.js";
import { countText, dateText } from "./format.js";
import { Journal } from "./journal.js";
import { Navigation } from "./navigation.js";
import { groupReportView, ruleReportView, topicReportView } from "./report_views.js";
import { themeButton } from "./theme.js";
import { timelineView } from "./timeline_view.js";
import { badgeOf } from "./verdict_parts.js";
import { verdictsIn } from "./verdict_source.js";
import { verdictView } from "./verdict_view.js";

const report = JSON.parse(document.getElementById("report").textContent);
const journal = new Journal();

const verdicts = report.state === null ? null : verdictsIn(report.state);
const views = {};
// The first view is the one that a report opens with. Of a journal alone nothing but the requests is known.
if (verdicts !== null) views.verdict = { label: "Verdict", make: (topic) => verdictView(journal, verdicts, topic) };
views.timeline = {
  label: "Timeline",
  make: (...parts) => timelineView(journal, { parts, start: [element("p", {}, "The broker received none.")] }),
};
if (report.state !== null) {
  views.groups = { label: "Groups", make: () => groupReportView(report.state) };
  views.rules = { label: "Fault rules", make: () => ruleReportView(report.state) };
  views.topics = { label: "Topics", make: () => topicReportView(report.state) };
}

function showHead(place) {
  const written = `report of ${countText(report.journal.items.length, "request")}, ${dateText(report.written_at_ms).slice(0, 19)} UTC`;
  fill(
    place,
    element("a", { class: "brand", href: "#" }, "fauxka"),
    element("code", { class: "address", title: report.title }, report.title),
    element("span", { class: "spacer" }),
    element("span", { class: "clock", title: `written by fauxka ${report.version}` }, written),
    themeButton(),
  );
}

journal.add(report.journal.items, report.journal.dropped);
journal.addMarks(report.journal.marks);
showHead(document.getElementById("bar"));
const navigation = new Navigation(views, document.getElementById("views"), document.getElementById("view"));
navigation.show();
if (verdicts !== null) navigation.showBadge("verdict", badgeOf(verdicts));
