// The header of a batch in the log, by Kafka's names.

import { element, facts, fill } from "./dom.js";
import { dateText } from "./format.js";

/** Return a promise of the header of a batch of the journal; undefined if the log does not have that batch now. */
export async function headerOf(api, { topic, partition, base_offset: offset, producer_id: id }) {
  const path = `/v1/topics/${encodeURIComponent(topic)}/batches?partition=${partition}`;
  const { items } = await api.get(`${path}&from_offset=${offset}&to_offset=${offset}`);
  return items.find((header) => header.base_offset === offset && header.producer_id === id);
}

/** Return the part that reads and shows the header of a batch when it is opened. read(batch): as headerOf. */
export function headerPart(batch, read) {
  const body = element("div", { class: "header" });
  const part = element("details", {}, element("summary", {}, "Header in the log"), body);
  part.addEventListener("toggle", async () => {
    if (!part.open) return;
    try {
      const header = await read(batch);
      fill(body, header === undefined ? element("p", {}, "The log does not have this batch now.") : headerFacts(header));
    } catch (error) {
      fill(body, element("p", { class: "problem", role: "alert" }, error.message));
    }
  });
  return part;
}

function headerFacts(header) {
  return facts([
    ["Base offset", header.base_offset],
    ["Batch length", `${header.batch_length} bytes`],
    ["Partition leader epoch", header.partition_leader_epoch],
    ["Magic", header.magic],
    ["CRC-32C", `0x${header.crc.toString(16).padStart(8, "0")}`],
    ["Attributes", `0x${header.attributes.toString(16).padStart(4, "0")}: ${attributesText(header.decoded_attributes)}`],
    ["Last offset delta", header.last_offset_delta],
    ["Base timestamp", dateText(header.base_timestamp)],
    ["Max timestamp", dateText(header.max_timestamp)],
    ["Producer id", numberOrNone(header.producer_id)],
    ["Producer epoch", numberOrNone(header.producer_epoch)],
    ["Base sequence", numberOrNone(header.base_sequence)],
    ["Records count", header.records_count],
  ]);
}

/** Return what a batch without a producer has: -1 in each of these fields. */
function numberOrNone(number) {
  return number < 0 ? `none (${number})` : number;
}

function attributesText(attributes) {
  const parts = [`compression ${attributes.compression}`, attributes.timestamp_type];
  if (attributes.is_transactional) parts.push("transactional");
  if (attributes.is_control) parts.push("control");
  if (attributes.has_delete_horizon) parts.push("delete horizon");
  return parts.join(", ");
}
