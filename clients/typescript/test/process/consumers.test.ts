// The verdicts on a group of a real consumer, and on what an application makes of a topic in another.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { RemoteBroker } from "fauxka";
import { Kafka, logLevel } from "kafkajs";
import { TOPIC, variable } from "../clients.js";

const broker = new RemoteBroker(variable("FAUXKA_ADMIN"));
const ORDERS = 3;

async function seed(topic: string, ...ids: string[]): Promise<void> {
  await broker.topics.create(topic, { partitions: 1 });
  await broker.topics.seed(topic, ids.map((id) => ({ value: "v", headers: [{ name: "id", value: id }] })));
}

/** Reads the orders as the group billing, and commits them. */
async function readOrders(): Promise<void> {
  const kafka = new Kafka({ brokers: variable("FAUXKA_BOOTSTRAP").split(","), logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: "billing" });
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
  let read = 0;
  await new Promise<void>((resolve) => {
    void consumer.run({
      eachMessage: () => {
        read += 1;
        if (read === ORDERS) resolve();
        return Promise.resolve();
      },
    });
  });
  await consumer.commitOffsets([{ topic: TOPIC, partition: 0, offset: String(ORDERS) }]);
  await consumer.disconnect();
}

beforeEach(async () => {
  await broker.reset();
  await seed(TOPIC, "A-0", "A-1", "A-2");
  await readOrders();
});

test("a record that is processed twice fails the assertion", async () => {
  const unreported = await broker.groupVerdict("billing");
  assert.throws(() => unreported.assertProcessedOnce(), /no application has reported what group billing processed/);

  await broker.processed("billing", TOPIC, { partition: 0, offset: [0, 1] });
  await broker.processed("billing", TOPIC, { event: "A-2", eventId: "header:id" });

  const verdict = await broker.groupVerdict("billing");
  verdict.assertDeliveredOnce();
  verdict.assertNothingSkipped();
  verdict.assertProcessedOnce();
  verdict.assertLag(0);
  await broker.processed("billing", TOPIC, { partition: 0, offset: 1 });
  const twice = await broker.groupVerdict("billing");
  const found = /expected every record processed once, found\n {4}processed twice: orders-0, offsets 1\.\.1: /;
  assert.throws(() => twice.assertProcessedOnce(), found);
});

test("an event that an application loses fails the assertion", async () => {
  await seed("invoices", "A-1", "A-0");
  const flow = { from: TOPIC, to: "invoices", eventId: "header:id" };

  const verdict = await broker.flowVerdict({ ...flow, group: "billing" });

  const lost = "orders to invoices: expected exactly once, found\n    lost: 1 events, such as A-2: "
    + "group billing has committed them, and their output was never written";
  assert.throws(() => verdict.assertExactlyOnce(), { message: lost });
  assert.throws(() => verdict.assertInOrder(), /out of order: 1 events, such as A-0: /);
  verdict.assertNoDuplicates();
  assert.deepEqual(verdict.findings[0]?.events[0]?.input, [{ partition: 0, offset: 2 }]);
  assert.equal(verdict.events.outOfOrder, 1);

  await broker.topics.seed("invoices", [{ value: "v", headers: [{ name: "id", value: "A-2" }] }]);
  (await broker.flowVerdict(flow)).assertExactlyOnce();
});
