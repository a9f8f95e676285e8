// What a test of a program asserts: records are stored exactly once, or the verdict says what became of them.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { RemoteBroker } from "fauxka";
import { TOPIC, send, variable, withProducer } from "../clients.js";

const broker = new RemoteBroker(variable("FAUXKA_ADMIN"));
const bootstrap = variable("FAUXKA_BOOTSTRAP");

beforeEach(async () => {
  await broker.reset();
  await broker.topics.create(TOPIC, { partitions: 1 });
});

const values = async () => (await broker.records(TOPIC)).map((record) => record.valueText);

test("a record whose acknowledgement is lost is sent again and stored once", async () => {
  await withProducer(bootstrap, async (producer) => {
    const rule = await broker.faults.lostAck({ topic: TOPIC });

    await send(producer, "one coffee");

    assert.equal(await rule.awaitHits(), 1);
  });
  const verdict = await broker.verdict(TOPIC);
  verdict.assertExactlyOnce();
  assert.equal(verdict.batches.duplicatesRecognised, 1);
  assert.deepEqual(await values(), ["one coffee"]);
});

test("the next record of an expired producer is accepted with its sequence", async () => {
  await withProducer(bootstrap, async (producer) => {
    await send(producer, "one coffee");
    const [known] = await broker.producers.list({ topic: TOPIC });
    assert.ok(known);
    assert.deepEqual(await broker.producers.expire(known.producerId), [known]);
    assert.deepEqual(await broker.producers.list({ topic: TOPIC }), []);

    await send(producer, "one tea");

    assert.equal((await broker.producers.list({ topic: TOPIC }))[0]?.nextSequence, 2);
  });
  (await broker.verdict(TOPIC)).assertExactlyOnce();
  assert.deepEqual(await values(), ["one coffee", "one tea"]);
});

test("a retry of a producer that the clock has expired is stored twice", async () => {
  await broker.clock.setMode("manual");
  await withProducer(bootstrap, async (producer) => {
    await broker.faults.lostAck({ topic: TOPIC });
    const retry = await broker.faults.held({ topic: TOPIC, skip: 1 });
    const sent = send(producer, "one coffee");
    await retry.awaitHits();
    await broker.clock.advance(2 * 24 * 60 * 60 * 1000);
    await broker.held.release();
    await sent;
  });
  // By the key, because kafkajs gives the record of a retry another timestamp.
  const verdict = await broker.verdict(TOPIC, "key");
  assert.throws(() => verdict.assertExactlyOnce(), {
    message: /^orders: expected exactly once, found records in the log twice: 1\n.*offsets 0 and 1, producer/,
  });
  verdict.assertNothingLost();
});

test("a lost record fails the assertion with a message that names it", async () => {
  await withProducer(bootstrap, async (producer) => {
    await broker.faults.falseSuccess({ topic: TOPIC });

    await send(producer, "one coffee");
  });
  const verdict = await broker.verdict(TOPIC);
  assert.equal(verdict.findings[0]?.kind, "acknowledged_lost");
  verdict.assertNoDuplicates();
  assert.throws(() => verdict.assertExactlyOnce(), (error: assert.AssertionError) => {
    assert.ok(error instanceof assert.AssertionError);
    const [summary, finding] = error.message.split("\n");
    assert.equal(summary, "orders: expected exactly once, found acknowledged batches lost: 1");
    assert.match(finding ?? "", /^ {4}acknowledged lost: partition 0, producer \d+ epoch 0, sequences from 0: it was/);
    return true;
  });
});

test("a topic to which nothing was produced fails the assertion", async () => {
  const verdict = await broker.verdict(TOPIC);

  assert.throws(() => verdict.assertExactlyOnce(), { message: /^nothing was produced to "orders"/ });
});
