// The module of testcontainers-node as its documentation uses it. The image has the name of Confluent's image here, so that
// nothing else differs from a test with Kafka.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KafkaContainer } from "@testcontainers/kafka";
import { Kafka, logLevel } from "kafkajs";

const WAIT_MS_MAX = 30_000;

for (const [image, isKraftByTag] of [
  ["confluentinc/cp-kafka:7.2.0", false],
  ["confluentinc/cp-kafka:7.6.0", false],
  ["confluentinc/cp-kafka:8.0.0", true],
  [process.env.FAUXKA_IMAGE ?? "fauxka:8.3.0", true],
]) {
  test(`KafkaContainer with KRaft: ${image}`, async () => {
    const module = new KafkaContainer(image);
    const container = await (isKraftByTag ? module : module.withKraft()).start();
    try {
      await roundTrip(`${container.getHost()}:${container.getMappedPort(9093)}`);
    } finally {
      await container.stop();
    }
  });
}

/** Sends one record and reads it back through a consumer group. */
async function roundTrip(broker) {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.ERROR });
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ value: "one coffee" }] });
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: "readers" });
  await consumer.connect();
  await consumer.subscribe({ topic: "orders", fromBeginning: true });
  try {
    const value = await new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`no record within ${WAIT_MS_MAX} ms`)), WAIT_MS_MAX).unref();
      consumer.run({ eachMessage: async ({ message }) => resolve(message.value.toString()) });
    });
    assert.equal(value, "one coffee");
  } finally {
    await consumer.disconnect();
  }
}
