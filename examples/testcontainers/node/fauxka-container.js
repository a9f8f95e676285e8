import { KafkaContainer } from "@testcontainers/kafka";

// The module reads the tag as a version of Confluent's platform: 8 or later starts with KRaft.
const IMAGE = process.env.FAUXKA_IMAGE ?? "fauxka:8.3.0";
const KAFKA_PORT = 9093;
const ADMIN_PORT = 9099;

/** A broker in a container: the module for Kafka, with the port of the admin API. */
export class FauxkaContainer extends KafkaContainer {
  constructor(image = IMAGE) {
    super(image);
    this.withExposedPorts(ADMIN_PORT);
  }

  async start() {
    return new StartedFauxka(await super.start());
  }
}

class StartedFauxka {
  constructor(container) {
    this.container = container;
    this.bootstrap = `${container.getHost()}:${container.getMappedPort(KAFKA_PORT)}`;
    this.admin = `http://${container.getHost()}:${container.getMappedPort(ADMIN_PORT)}`;
  }

  /** Appends the next batch for a topic, and closes the connection in place of a response. Returns the rule. */
  loseAck(topic) {
    return this.call("/v1/rules", { match: { api: "Produce", topic }, point: "applied", action: { kind: "close" } });
  }

  /** Returns what became of each batch of a topic. */
  verdict(topic, eventId = "key") {
    return this.call(`/v1/verdict?topic=${encodeURIComponent(topic)}&event_id=${eventId}`);
  }

  async call(path, body) {
    const options = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(this.admin + path, options);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error.message);
    return answer;
  }

  stop() {
    return this.container.stop();
  }
}
