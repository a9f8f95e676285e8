// The image in a container, with one node and with three.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FauxkaContainer } from "fauxka/testcontainers";
import { TOPIC, send, withProducer } from "../clients.js";

const image = process.env.FAUXKA_IMAGE;

for (const nodes of [1, 3]) {
  test(`an acknowledgement is lost in a container with ${nodes} nodes`, async () => {
    await using fauxka = await new FauxkaContainer(image, { nodes }).withConfig("num.partitions", "2").start();
    const bootstrap = fauxka.getBootstrapServer();
    assert.equal(bootstrap.split(",").length, nodes);
    await fauxka.broker.faults.lostAck({ topic: TOPIC });

    await withProducer(bootstrap, (producer) => send(producer, "one coffee"));

    const verdict = await fauxka.broker.verdict(TOPIC);
    verdict.assertExactlyOnce();
    assert.equal(verdict.batches.duplicatesRecognised, 1);
    assert.equal((await fauxka.broker.topics.get(TOPIC)).partitions.length, 2);
    assert.equal((await fauxka.broker.nodes()).length, nodes);
  });
}
