// Three nodes, of which one dies.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { RemoteBroker } from "fauxka";
import { TOPIC, send, variable, withProducer } from "../clients.js";

const broker = new RemoteBroker(variable("FAUXKA_CLUSTER_ADMIN"));
const bootstrap = variable("FAUXKA_CLUSTER_BOOTSTRAP");

beforeEach(async () => {
  await broker.reset();
  await broker.topics.create(TOPIC, { partitions: 1 });
});

async function leader(): Promise<number> {
  const [partition] = await broker.partitions(TOPIC, 0);
  assert.ok(partition);
  return partition.leader;
}

test("a client goes on after the death of the leader, and nothing is lost", async () => {
  const died = await leader();
  await withProducer(bootstrap, async (producer) => {
    await send(producer, "one coffee");
    const stopped = await broker.stopNode(died, { controlled: false, noticed: true });
    assert.equal(stopped.state, "crashed");

    await send(producer, "one tea");
  });

  assert.notEqual(await leader(), died);
  (await broker.verdict(TOPIC)).assertExactlyOnce();
  assert.deepEqual((await broker.records(TOPIC)).map((record) => record.valueText), ["one coffee", "one tea"]);
  assert.equal((await broker.startNode(died)).state, "running");
});

test("a leader moves, is isolated, crashes and comes back", async () => {
  const first = await leader();
  const other = (await broker.nodes()).map(({ node }) => node).find((node) => node !== first) ?? 0;
  assert.equal((await broker.moveLeader(TOPIC, 0, other)).leader, other);
  assert.deepEqual((await broker.isolate(other, ["clients"])).isolatedFrom, ["clients"]);
  assert.deepEqual((await broker.rejoin(other)).isolatedFrom, []);
  await broker.crash({ node: other, noticed: true });
  assert.notEqual(await leader(), other);
  await broker.restart({ node: other });
  assert.deepEqual((await broker.nodes()).map(({ state }) => state), ["running", "running", "running"]);
});
