// The programs of the README files: they compile, and are not run.
import { RemoteBroker } from "fauxka";
import { FauxkaContainer } from "fauxka/testcontainers";

export async function loseAnAcknowledgement(sendOrder: (bootstrapServer: string) => Promise<void>): Promise<void> {
  await using fauxka = await new FauxkaContainer().start();
  await fauxka.broker.faults.lostAck({ topic: "orders" });
  await sendOrder(fauxka.getBootstrapServer()); // the code under test
  const verdict = await fauxka.broker.verdict("orders");
  verdict.assertExactlyOnce();
}

export function connect(): RemoteBroker {
  const broker = new RemoteBroker("http://127.0.0.1:9099"); // with a second argument { token } for --admin-token
  return broker;
}
