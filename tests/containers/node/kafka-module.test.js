// The module of testcontainers-node as its documentation uses it. The image has the name of Confluent's image here, so that
// nothing else differs from a test with Kafka.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { KafkaContainer } from "@testcontainers/kafka";
import { Kafka, logLevel } from "kafkajs";
import "./page-program.js";

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

test("KafkaContainer with SASL_SSL: confluentinc/cp-kafka:7.6.0", async () => {
  const { store, certificate } = newKeyStore("keys");
  const user = { name: "alice", password: "secret" };
  const container = await new KafkaContainer("confluentinc/cp-kafka:7.6.0")
    .withKraft()
    .withSaslSslListener({
      port: 9096,
      sasl: { mechanism: "SCRAM-SHA-512", user },
      keystore: { content: store, passphrase: "keys" },
    })
    .start();
  try {
    const sasl = { mechanism: "scram-sha-512", username: user.name, password: user.password };
    const secured = { ssl: { ca: [certificate] }, sasl };
    await roundTrip(`${container.getHost()}:${container.getMappedPort(9096)}`, secured);
  } finally {
    await container.stop();
  }
});

/** Returns a PKCS12 store with a certificate for localhost, and the certificate. */
function newKeyStore(passphrase) {
  const folder = mkdtempSync(join(tmpdir(), "keys-"));
  const [key, certificate, store] = ["key.pem", "certificate.pem", "store.p12"].map((name) => join(folder, name));
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  try {
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, ...subject]);
    const chain = ["-inkey", key, "-in", certificate, "-out", store, "-passout", `pass:${passphrase}`];
    execFileSync("openssl", ["pkcs12", "-export", ...chain]);
    return { store: readFileSync(store), certificate: readFileSync(certificate) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Sends one record and reads it back through a consumer group. */
async function roundTrip(broker, options = {}) {
  const kafka = new Kafka({ ...options, brokers: [broker], logLevel: logLevel.ERROR });
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
