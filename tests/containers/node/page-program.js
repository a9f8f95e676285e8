// The program of docs/containers.md, which kafka-module.test.js loads and does not run: it tests images of other names.
import { KafkaContainer } from "@testcontainers/kafka";

export async function startAndStop() {
  const kafka = await new KafkaContainer("fauxka:8.3.0").start();
  const brokers = [`${kafka.getHost()}:${kafka.getMappedPort(9093)}`];
  await kafka.stop();
  return brokers;
}
