// Programs of the family with kafkajs, any number at a time in one process (runtime.py). The names of defects are those of
// defect.py; the twin has "none".
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Kafka, logLevel } from "kafkajs";

process.removeAllListeners("warning").on("warning", () => {});
process.on("unhandledRejection", () => {});

const [ORDERS, COPIES, GROUP] = ["orders", "copies", "copy"];
const EVENTS = ["one coffee", "two teas", "three cakes"];
const BATCHES = [
  ["a1", "a2"],
  ["b1", "b2"],
];
// As in clients/client.py.
const SHORT_RETRY = { initialRetryTime: 20, maxRetryTime: 200 };
const SHORT_CONNECTION = { connectionTimeout: 1000, requestTimeout: 1000, retry: SHORT_RETRY };
const SHORT_READING = { sessionTimeout: 3000, rebalanceTimeout: 3000, heartbeatInterval: 300, maxWaitTimeInMs: 300 };
// Of a program that does not wait long enough.
const SHORT_MS = 800;
// What a program whose time is over has to close its clients.
const CLOSING_MS_MAX = 5000;

const PROGRAMS = {
  "plain producer": sendTogether,
  "idempotent producer": sendEach,
  "transactional producer": sendInTransactions,
  copier: copy,
  "transactional copier": copyInTransactions,
};

class World {
  constructor(defect, address, configuration) {
    this.defect = defect;
    this.isShort = configuration === "short";
    this.kafka = new Kafka({
      brokers: [address],
      logLevel: logLevel.NOTHING,
      ...(this.isShort ? SHORT_CONNECTION : {}),
    });
    this.clients = [];
  }

  has(defect) {
    return this.defect === defect;
  }

  async connected(client) {
    this.clients.push(client);
    await client.connect();
    return client;
  }

  producer(options = {}) {
    return this.connected(this.kafka.producer(options));
  }

  consumer() {
    const ours = { groupId: GROUP, ...(this.isShort ? SHORT_READING : {}) };
    return this.connected(this.kafka.consumer(ours));
  }

  async committed() {
    const admin = await this.connected(this.kafka.admin());
    const [{ partitions }] = await admin.fetchOffsets({ groupId: GROUP, topics: [ORDERS] });
    return Math.max(0, ...partitions.map(({ offset }) => Number(offset)));
  }

  close() {
    const closing = Promise.allSettled(this.clients.map((client) => client.disconnect()));
    return Promise.race([closing, sleep(CLOSING_MS_MAX)]);
  }
}

function messageOf(value) {
  return [{ value, partition: 0 }];
}

async function sendTogether(world) {
  const producer = await world.producer();
  const acks = world.has("ACKS_0") ? 0 : -1;
  const sent = EVENTS.map((event) => producer.send({ topic: ORDERS, acks, messages: messageOf(event) }));
  if (world.has("REPORT_IGNORED")) {
    await Promise.allSettled(sent);
  } else if (world.has("LAST_REPORT_ONLY")) {
    await sent.at(-1);
  } else if (world.has("FLUSH_RESULT_IGNORED")) {
    await Promise.race([Promise.all(sent), sleep(SHORT_MS)]);
  } else {
    await Promise.all(sent);
  }
}

async function sendEach(world) {
  const idempotent = !world.has("NOT_IDEMPOTENT");
  const producer = await world.producer({ idempotent });
  for (const event of EVENTS) {
    const sending = producer.send({ topic: ORDERS, messages: messageOf(event) });
    try {
      if (world.has("NEW_PRODUCER")) {
        await Promise.race([sending, sleep(SHORT_MS).then(() => Promise.reject(new Error("no report")))]);
      } else {
        await sending;
      }
    } catch (error) {
      if (world.has("NEW_PRODUCER")) {
        const other = await world.producer({ idempotent });
        await other.send({ topic: ORDERS, messages: messageOf(event) });
      } else if (!world.has("ERROR_SWALLOWED")) {
        throw error;
      }
    }
  }
}

async function sendInTransactions(world) {
  const producer = await world.producer({ transactionalId: "writer", idempotent: true, maxInFlightRequests: 1 });
  for (const batch of BATCHES) {
    await write(world, producer, batch);
  }
}

// Writes a batch. After an abort the program ends: kafkajs gives the next batch the sequence numbers of the one that may be
// written, so the broker takes it for a duplicate (docs/hunt-reference.md).
async function write(world, producer, batch) {
  const transaction = await producer.transaction();
  try {
    await transaction.send({ topic: ORDERS, messages: batch.map((value) => ({ value, partition: 0 })) });
  } catch (error) {
    return abort(world, transaction, error);
  }
  return transaction.commit();
}

async function abort(world, transaction, error) {
  await transaction.abort();
  if (!world.has("ABORT_IGNORED")) {
    throw error;
  }
}

async function copy(world) {
  const producer = await world.producer({ idempotent: true, maxInFlightRequests: 1 });
  await eachOrder(world, async (consumer, order, after) => {
    if (world.has("COMMIT_BEFORE")) {
      await consumer.commitOffsets([after]);
    }
    try {
      await producer.send({ topic: COPIES, messages: messageOf(order) });
    } catch (error) {
      if (!world.has("ERROR_SWALLOWED")) {
        throw error;
      }
    }
    if (!world.has("COMMIT_BEFORE")) {
      await consumer.commitOffsets([after]);
    }
  });
}

async function copyInTransactions(world) {
  const producer = await world.producer({ transactionalId: "copier", idempotent: true, maxInFlightRequests: 1 });
  await eachOrder(world, async (consumer, order, after) => {
    if (world.has("OFFSETS_BEFORE")) {
      await consumer.commitOffsets([after]);
    }
    const transaction = await producer.transaction();
    try {
      await transaction.send({ topic: COPIES, messages: messageOf(order) });
      if (!world.has("OFFSETS_BEFORE") && !world.has("OFFSETS_OUTSIDE")) {
        const topics = [{ topic: ORDERS, partitions: [{ partition: 0, offset: after.offset }] }];
        await transaction.sendOffsets({ consumerGroupId: GROUP, topics });
      }
    } catch (error) {
      return abort(world, transaction, error);
    }
    await transaction.commit();
    if (world.has("OFFSETS_OUTSIDE")) {
      await consumer.commitOffsets([after]);
    }
  });
}

// Calls for each order that is not committed, in turn.
async function eachOrder(world, handle) {
  let next = await world.committed();
  if (next >= EVENTS.length) {
    return;
  }
  const consumer = await world.consumer();
  await consumer.subscribe({ topics: [ORDERS], fromBeginning: true });
  let isOver = false;
  const handled = new Promise((resolve, reject) => {
    const end = (settle, result) => {
      isOver = true;
      settle(result);
    };
    consumer.on(consumer.events.CRASH, ({ payload }) => payload.restart || end(reject, payload.error));
    const eachMessage = async ({ message }) => {
      const offset = Number(message.offset);
      if (isOver || offset !== next) {
        return;
      }
      const after = { topic: ORDERS, partition: 0, offset: String(offset + 1) };
      try {
        await handle(consumer, message.value.toString(), after);
        next = offset + 1;
      } catch (error) {
        end(reject, error);
      }
      if (next >= EVENTS.length) {
        end(resolve);
      }
    };
    consumer.run({ autoCommit: false, eachMessage }).catch((error) => end(reject, error));
  });
  await handled;
}

async function ended([, shape, defect, address, configuration, seconds]) {
  const world = new World(defect, address, configuration);
  const limit = new AbortController();
  try {
    const late = sleep(Number(seconds) * 1000, undefined, { signal: limit.signal });
    await Promise.race([PROGRAMS[shape](world), late.then(() => Promise.reject(new Error("it did not end")))]);
    return "";
  } catch (error) {
    return `${error.name}: ${error.message}`.replaceAll(/\s+/g, " ");
  } finally {
    limit.abort();
    await world.close();
  }
}

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const words = line.split("\t");
    process.stdout.write(`${words[0]}\t${await ended(words)}\n`);
  })
  .on("close", () => process.exit(0));
