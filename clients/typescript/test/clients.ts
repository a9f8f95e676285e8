/** Kafka clients of the tests. */

import { Kafka, Partitioners, type Producer, logLevel } from "kafkajs";

export const TOPIC = "orders";

/** Runs a test with an idempotent producer, which retries until a response comes. */
export async function withProducer(bootstrap: string, run: (producer: Producer) => Promise<void>): Promise<void> {
  const kafka = new Kafka({ brokers: bootstrap.split(","), logLevel: logLevel.NOTHING });
  const createPartitioner = Partitioners.DefaultPartitioner;
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, createPartitioner });
  await producer.connect();
  try {
    await run(producer);
  } finally {
    await producer.disconnect();
  }
}

/** Sends records with these values, and resolves when they are acknowledged. */
export async function send(producer: Producer, ...values: string[]): Promise<void> {
  await producer.send({ topic: TOPIC, messages: values.map((value) => ({ key: `key of ${value}`, value })) });
}

/** Returns an environment variable that leads to a broker. */
export function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; README.md has the brokers that the tests need`);
  return value;
}
