// The view of one topic: its partitions, records, groups, producers and configs.

import { button, element, facts, fill } from "./dom.js";
import { bytesText, dateText } from "./format.js";
import { badge, liveView, numberText, sumOf, table } from "./live_view.js";
import { Pager } from "./pager.js";
import { appendRecord } from "./record_form.js";
import { recordSearch } from "./record_search.js";
import { recordsPart } from "./records_part.js";
import { windowOf } from "./request_panel.js";
import { deleteTopic, moveLeader } from "./topic_forms.js";
import { isOfTopic, topicGroupsPart, topicLinks } from "./topic_links.js";
import { withVerdicts } from "./verdict_source.js";

// Labels of the links to the parts of the view, and the names of the parts.
const PARTS = [["Records", "Records"], ["Search", "Search"], ["Groups", "Groups of the topic"], ["Producers", "Producers"], ["Configs", "Configs"]];
// Label, name in the path, and what the notice says.
const CHANGES = [
  ["Forget", "forget", "state deleted"],
  ["Expire", "expire", "expired"],
  ["Bump epoch", "bump_epoch", "fenced by the next epoch"],
  ["Evict cache", "evict_cache", "cached batches deleted"],
];

const GROUPS_MAX = 10000;
// They are read again after each change.
const PRODUCERS_MAX = 1000;
// Heads of columns, and names in the API.
const PARTITION_NUMBERS = {
  Leader: "leader",
  "Leader epoch": "leader_epoch",
  Start: "log_start_offset",
  "Last stable": "last_stable_offset",
  "High watermark": "high_watermark",
  End: "log_end_offset",
  Size: "size_bytes",
  Producers: "producers",
};

/** Return the view of a topic. partition, offset: the records to show first. */
export function topicView({ api, actions, verdicts }, name, partition = "0", offset = "") {
  const path = `/v1/topics/${encodeURIComponent(name)}`;
  const records = recordsPart(api, path, Number(partition) || 0, offset);
  const search = recordSearch(api, path, (record) => records.open(record.partition, record.offset));
  const links = topicLinks(verdicts, name);
  const groupsPlace = element("section", { class: "section", "aria-label": "Groups of the topic" });
  const producersPlace = element("section", { class: "section", "aria-label": "Producers" });
  const configsPlace = element("section", { class: "section", "aria-label": "Configs" });
  const view = liveView({
    title: element("span", {}, element("a", { href: "#topics" }, "Topics"), ` / ${name} `, links.root),
    parts: ["topics", "nodes", "groups"],
    head: element(
      "div",
      { class: "state-tools" },
      PARTS.map(([label, part]) => button(label, () => showPart(part), { kind: "link" })),
      element("span", { class: "spacer" }),
      button("Append record", () => appendRecord(actions, path, records), { kind: "primary" }),
      button("Delete topic", () => deleteTopic(actions, name, () => (location.hash = "#topics"))),
    ),
    foot: [records.root, search.root, groupsPlace, producersPlace, configsPlace],
    async read() {
      const [topic, nodes, replicas, producers, groups] = await Promise.all([
        api.get(path),
        api.list("/v1/nodes"),
        api.list(`/v1/partitions?topic=${encodeURIComponent(name)}&limit=1000`, 10000),
        api.list(`/v1/producers?topic=${encodeURIComponent(name)}&limit=1000`, PRODUCERS_MAX),
        api.list("/v1/groups?limit=1000", GROUPS_MAX),
      ]);
      return { topic, producers, groups: groups.filter((group) => isOfTopic(group, name)), replicas: nodes.length > 1 ? replicas : [] };
    },
    draw({ topic, producers, groups, replicas }) {
      records.update(topic.partitions);
      search.update(topic.partitions);
      fill(groupsPlace, topicGroupsPart(name, groups, verdicts.groups));
      fill(producersPlace, producersPart(producers, actions, view));
      fill(configsPlace, configsPart(topic));
      return partitionsPart(topic, replicas, actions, view);
    },
  });
  const showPart = (label) => view.root.querySelector(`[aria-label="${label}"]`).scrollIntoView();
  const watched = withVerdicts(view, verdicts, () => verdicts.groups);
  return {
    ...watched,
    close() {
      search.stop();
      links.close();
      watched.close();
    },
  };
}

function partitionsPart(topic, replicas, actions, view) {
  const several = replicas.length ? ["Replicas", "ISR", "ELR", ""] : [];
  const columns = Object.entries(PARTITION_NUMBERS).map(([head, name]) => [`${head}#`, (each) => each[name]]);
  const heads = [["Partition", ({ partition }) => partition], ...columns, ...several];
  const states = new Map(replicas.map((state) => [state.partition, state]));
  const rowOf = (each) => {
    const numbers = [each.log_start_offset, each.last_stable_offset, each.high_watermark, each.log_end_offset].map(numberText);
    const cells = [each.partition, each.leader < 0 ? badge("none", "cut") : each.leader, each.leader_epoch, ...numbers];
    cells.push(bytesText(each.size_bytes), numberText(each.producers));
    const state = states.get(each.partition);
    return state === undefined ? cells : [...cells, ...replicaCells(state, actions, view)];
  };
  const size = bytesText(sumOf(topic.partitions.map((each) => each.size_bytes)));
  return [element("p", { class: "note" }, `topic id ${topic.topic_id} · ${size}`), table("Partitions", heads, topic.partitions, rowOf)];
}

function replicaCells(state, actions, view) {
  const offline = state.offline.length ? [" ", badge(`${state.offline.join(", ")} down`, "cut")] : null;
  const isBehind = state.isr.length < state.replicas.length;
  return [
    [state.replicas.join(", "), offline],
    isBehind ? badge(state.isr.join(", ") || "none", "slow") : state.isr.join(", "),
    state.elr.join(", ") || "none",
    button("Move leader", () => moveLeader(state, actions, () => view.refresh()), {
      kind: "quiet",
      disabled: state.replicas.length < 2,
      "aria-label": `Move the leader of partition ${state.partition}`,
      "data-key": `move/${state.partition}`,
    }),
  ];
}

function producersPart(producers, actions, view) {
  if (!producers.length) return [element("h2", {}, "Producers"), element("p", { class: "note" }, "No idempotent producer has written to this topic.")];
  const cards = element("div", { class: "cards" });
  const pager = new Pager("Producers", draw);
  function draw() {
    fill(cards, pager.pageOf(producers).map((each) => producerCard(each, actions, view)));
  }
  draw();
  const isCut = producers.length >= PRODUCERS_MAX;
  return [element("h2", {}, "Producers"), pager.root, cards, isCut && element("p", { class: "note" }, `The first ${PRODUCERS_MAX.toLocaleString("en")} are shown.`)];
}

function producerCard(producer, actions, view) {
  const { producer_id: id, topic, partition } = producer;
  const change = ([label, name, done]) =>
    button(
      label,
      async () => {
        const body = { producer_id: id, topic, partition };
        await actions.perform(`Producer ${id} on ${topic}-${partition}: ${done}`, "POST", `/v1/producers/${name}`, body);
        view.refresh();
      },
      { "data-key": `${name}/${partition}/${id}` },
    );
  const open = producer.current_txn_first_offset;
  return element(
    "article",
    { class: "card", "aria-label": `Producer ${id} of partition ${partition}` },
    element("h3", {}, `Producer ${id} `, element("small", {}, `partition ${partition}`)),
    facts([
      ["Open transaction", open === null ? null : badge(`since offset ${open}`, "waiting")],
      ["Last timestamp", dateText(producer.last_timestamp)],
    ]),
    windowOf(producer),
    element("div", { class: "links" }, CHANGES.map(change)),
  );
}

function configsPart(topic) {
  const configs = Object.entries(topic.configs).sort();
  return [element("h2", {}, "Configs"), configs.length ? facts(configs) : element("p", { class: "note" }, "None is set: those of the broker apply.")];
}
