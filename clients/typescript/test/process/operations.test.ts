// The operations of the admin API that the other tests do not use, and the errors.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { FauxkaError, RemoteBroker, WaitTimeoutError } from "fauxka";
import { Kafka, logLevel } from "kafkajs";
import { TOPIC, send, variable, withProducer } from "../clients.js";

const broker = new RemoteBroker(variable("FAUXKA_ADMIN"));
const bootstrap = variable("FAUXKA_BOOTSTRAP");

beforeEach(async () => {
  await broker.reset();
  await broker.topics.create(TOPIC, { partitions: 1 });
});

test("an invalid rule is an error with status, field and message", async () => {
  const rule = { match: { clientId: { regex: "(" } }, point: "received", action: { kind: "close" } } as const;

  await assert.rejects(broker.faults.add(rule), (error: FauxkaError) => {
    assert.ok(error instanceof FauxkaError);
    assert.deepEqual([error.status, error.field], [400, "match.client_id.regex"]);
    assert.match(error.message, /client_id/);
    return true;
  });
});

test("a broker that does not respond is an error without a status", async () => {
  const nobody = new RemoteBroker("http://127.0.0.1:1");

  const expected = { name: "FauxkaError", status: null, message: "no response from http://127.0.0.1:1" };
  await assert.rejects(nobody.nodes(), expected);
});

test("a wait that ends at its timeout has the near misses in its message", async () => {
  const rule = await broker.faults.lostAck({ topic: "other" });
  await withProducer(bootstrap, (producer) => send(producer, "one coffee"));

  await assert.rejects(rule.awaitHits(1, 50), (error: WaitTimeoutError) => {
    assert.ok(error instanceof WaitTimeoutError);
    assert.deepEqual([error.status, error.hits, error.nearMisses[0]?.field], [408, 0, "topic"]);
    assert.match(error.message, /first differed at topic: orders, not other/);
    return true;
  });
});

test("a rule is removed at the end of its block", async () => {
  {
    await using rule = await broker.faults.observed({ api: "Metadata" });
    assert.equal(await rule.hits(), 0);
  }
  const { items } = await broker.call<{ items: unknown[] }>("GET", "/v1/rules");

  assert.deepEqual(items, []);
});

test("every recipe makes a rule that the broker accepts", async () => {
  const faults = broker.faults;
  const rules = [
    await faults.lostAck({ how: "drop", topic: { regex: "orders-.*" }, enabled: false }),
    await faults.lostRequest({ partition: [0, { from: 2 }] }),
    await faults.hang({ key: Buffer.from([0, 0xff]) }),
    await faults.closedConnection({ clientId: "program" }),
    await faults.resetConnection({ api: ["Fetch", "Produce"] }),
    await faults.deliveredTwice({ header: { name: "id", value: "1" } }),
    await faults.held({ point: "applied" }),
    await faults.slowAnswers(10, { producerId: 4 }),
    await faults.slowRequests(10, { groupId: "readers" }),
    await faults.refuse("NOT_LEADER_OR_FOLLOWER", { topic: TOPIC, scope: "topic" }),
    await faults.falseError("REQUEST_TIMED_OUT", { times: null }),
    await faults.falseSuccess({ skip: 1, times: 2 }),
    await faults.crashAfterAppend({ restartAfterMs: null }),
    await faults.crashBeforeAppend({ name: "crash" }),
    await faults.refusedConnections({ listener: "PLAINTEXT" }),
    await faults.observed({ point: "answering" }),
  ];
  const infos = await Promise.all(rules.map((rule) => rule.info()));
  await faults.clear();

  assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length);
  assert.deepEqual(infos[0]?.action, { kind: "drop" });
  assert.deepEqual([infos[0].enabled, infos[0].match.topic], [false, { regex: "orders-.*" }]);
  assert.deepEqual(infos[2]?.match.key, { base64: "AP8=" });
  assert.equal(infos[10]?.when.times, null);
  assert.deepEqual(infos[12]?.action, { kind: "crash", restartAfterMs: null });
});

test("records have the bytes and the text of key and value", async () => {
  const headers = [{ name: "trace", value: new Uint8Array([1]) }];
  const record = { key: Buffer.from([0, 0xff]), value: "one coffee", headers };
  const places = await broker.topics.seed(TOPIC, [record, { value: null }]);
  const [first, second] = await broker.records(TOPIC, { fromOffset: 0, toOffset: 1, limit: 2 });

  assert.deepEqual(places.map(({ offset }) => offset), [0, 1]);
  assert.deepEqual([first?.key, first?.valueText], [Buffer.from([0, 0xff]), "one coffee"]);
  assert.deepEqual(first?.headers, [{ name: "trace", value: Buffer.from([1]) }]);
  assert.deepEqual([second?.key, second?.value, second?.valueText, second?.producerId], [null, null, null, -1]);
});

test("topics are listed and deleted, with names and configs as they are", async () => {
  const created = await broker.topics.create("snake_case", { configs: { "retention.ms": 60_000 } });
  const names = (await broker.topics.list()).map(({ name }) => name);
  await broker.topics.delete("snake_case");

  assert.deepEqual(names, [TOPIC, "snake_case"]);
  assert.deepEqual(created.configs, { "retention.ms": "60000" });
  assert.equal(created.partitions[0]?.highWatermark, 0);
  await assert.rejects(broker.topics.get("snake_case"), { status: 404 });
});

test("the journal has the requests that match, until it is cleared", async () => {
  await withProducer(bootstrap, (producer) => send(producer, "one coffee", "one tea"));
  const [entry] = await broker.journal.entries({ api: "Produce", topic: TOPIC, limit: 1 });

  assert.equal(await broker.journal.count({ api: "Produce" }), 1);
  assert.deepEqual([entry?.topics, entry?.batches[0]?.decision, entry?.batches[0]?.records], [[TOPIC], "appended", 2]);
  assert.equal(await broker.journal.count({ since: entry?.id ?? 0, api: "Produce" }), 0);
  await broker.journal.clear();
  assert.equal(await broker.journal.count(), 0);
});

test("the clock stands still, and is advanced", async () => {
  await broker.clock.setMode("manual");
  const before = await broker.clock.nowMs();

  assert.equal(await broker.clock.advance(60_000), before + 60_000);
  assert.deepEqual(await broker.clock.info(), { mode: "manual", nowMs: before + 60_000, skewMs: 0 });
});

test("a producer is forgotten, fenced, and has no cache", async () => {
  await withProducer(bootstrap, async (producer) => {
    await send(producer, "one coffee");
    const [known] = await broker.producers.list();
    assert.ok(known);
    assert.equal((await broker.producers.evictCache(known.producerId))[0]?.cached.length, 1);
    const [unfenced] = await broker.producers.bumpEpoch(known.producerId, { topic: TOPIC, partition: 0 });
    assert.equal(unfenced?.producerEpoch, 0);

    await assert.rejects(send(producer, "one tea"), /epoch/);

    assert.equal((await broker.producers.forget(known.producerId))[0]?.producerEpoch, 1);
  });
});

test("a group has its members, partitions and offsets", async () => {
  await broker.topics.seed(TOPIC, [{ value: "one coffee" }]);
  const consumer = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING }).consumer({ groupId: "readers/1" });
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
  try {
    await new Promise<void>((resolve) => void consumer.run({ eachMessage: async () => resolve() }));
    const group = await broker.groups.get("readers/1");

    assert.deepEqual(group.members[0]?.partitions, { [TOPIC]: [0] });
    assert.deepEqual((await broker.groups.list()).map(({ groupId }) => groupId), ["readers/1"]);
  } finally {
    await consumer.disconnect();
  }
});

test("a snapshot is restored", async () => {
  const id = await broker.snapshot();
  await broker.topics.delete(TOPIC);
  await broker.restore(id);

  assert.deepEqual((await broker.topics.list()).map(({ name }) => name), [TOPIC]);
});
