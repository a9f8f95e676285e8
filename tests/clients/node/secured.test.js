// kafkajs over SASL_SSL and with a certificate. docs/security.md shows the lines that configure it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";

const WAIT_MS_MAX = 30_000;
const VALUES = ["a", "b", "c"];
const { SECURED_ADDRESS, SECURED_FOLDER, MUTUAL_ADDRESS, MUTUAL_FOLDER } = process.env;

for (const mechanism of ["plain", "scram-sha-256", "scram-sha-512"]) {
  test(`writes and reads: ${mechanism}`, async () => {
    const folder = SECURED_FOLDER;
    await roundTrip(`kafkajs-${mechanism}`, {
      brokers: [SECURED_ADDRESS],
      ssl: { ca: [readFileSync(`${folder}/ca.pem`)] },
      sasl: { mechanism, username: "alice", password: "secret" },
    });
  });
}

test("writes and reads with a certificate", async () => {
  const folder = MUTUAL_FOLDER;
  const pem = readFileSync(`${folder}/client.pem`);
  await roundTrip("kafkajs-certificate", {
    brokers: [MUTUAL_ADDRESS],
    ssl: { ca: [readFileSync(`${folder}/ca.pem`)], cert: pem, key: pem },
  });
});

test("reports a wrong password", async () => {
  const folder = SECURED_FOLDER;
  const options = {
    brokers: [SECURED_ADDRESS],
    ssl: { ca: [readFileSync(`${folder}/ca.pem`)] },
    sasl: { mechanism: "scram-sha-512", username: "alice", password: "secret" },
  };
  const sasl = { ...options.sasl, password: "wrong" };
  const kafka = new Kafka({ ...options, sasl, logLevel: logLevel.NOTHING });
  const producer = kafka.producer();
  await assert.rejects(producer.connect(), { name: "KafkaJSSASLAuthenticationError" });
  await producer.disconnect();
});

/** Writes with idempotence, and reads back. */
async function roundTrip(topic, options) {
  const kafka = new Kafka({ ...options, logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ idempotent: true });
  await producer.connect();
  await producer.send({ topic, messages: VALUES.map((value) => ({ value })) });
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: topic });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const read = [];
  try {
    await new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`${read} within ${WAIT_MS_MAX} ms`)), WAIT_MS_MAX).unref();
      consumer.run({
        eachMessage: async ({ message }) => {
          read.push(message.value.toString());
          if (read.length === VALUES.length) resolve();
        },
      });
    });
    assert.deepEqual(read, VALUES);
  } finally {
    await consumer.disconnect();
  }
}
