// Names of Kafka's errors to choose from. Any other name or code can be typed; the API checks it.

import { element } from "./dom.js";

const NAMES = [
  "NOT_LEADER_OR_FOLLOWER",
  "REQUEST_TIMED_OUT",
  "NOT_ENOUGH_REPLICAS",
  "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
  "LEADER_NOT_AVAILABLE",
  "UNKNOWN_TOPIC_OR_PARTITION",
  "TOPIC_AUTHORIZATION_FAILED",
  "OUT_OF_ORDER_SEQUENCE_NUMBER",
  "DUPLICATE_SEQUENCE_NUMBER",
  "UNKNOWN_PRODUCER_ID",
  "INVALID_PRODUCER_EPOCH",
  "PRODUCER_FENCED",
  "INVALID_TXN_STATE",
  "MESSAGE_TOO_LARGE",
  "RECORD_LIST_TOO_LARGE",
  "CORRUPT_MESSAGE",
  "KAFKA_STORAGE_ERROR",
  "COORDINATOR_NOT_AVAILABLE",
  "NOT_COORDINATOR",
  "REBALANCE_IN_PROGRESS",
  "UNKNOWN_MEMBER_ID",
  "OFFSET_OUT_OF_RANGE",
  "UNKNOWN_SERVER_ERROR",
  "NONE",
];

/** Return the list for inputs with list="error-names". */
export function errorNames() {
  return element("datalist", { id: "error-names" }, NAMES.map((name) => element("option", { value: name })));
}
