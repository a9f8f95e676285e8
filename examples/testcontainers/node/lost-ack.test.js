// An order whose acknowledgement is lost, with a broker in a container.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";
import { FauxkaContainer } from "./fauxka-container.js";

for (const [idempotent, copies] of [
  [true, 1],
  [false, 2],
]) {
  test(`${idempotent ? "an idempotent" : "another"} producer stores the order ${copies} times`, async () => {
    const fauxka = await new FauxkaContainer().start();
    try {
      const kafka = new Kafka({ brokers: [fauxka.bootstrap], logLevel: logLevel.NOTHING });
      const producer = kafka.producer({ idempotent });
      await producer.connect();
      await fauxka.loseAck("orders");

      await producer.send({ topic: "orders", messages: [{ key: "order-1", value: "one coffee" }] });

      await producer.disconnect();
      const { records } = await fauxka.verdict("orders");
      assert.equal(records.in_log, copies);
    } finally {
      await fauxka.stop();
    }
  });
}
