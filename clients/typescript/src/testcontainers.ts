/**
 * A broker in a container for tests.
 *
 * The host's port is known only after the start of the container, and the broker has to advertise it. So the broker
 * waits for a file with its addresses, a line for each node.
 */

import { AbstractStartedContainer, BoundPorts, GenericContainer, StartupCheckStrategy, Wait } from "testcontainers";
import { type InspectResult, type StartedTestContainer, type StartupStatus } from "testcontainers";
import { getContainerRuntimeClient, waitForContainer } from "testcontainers";
import { RemoteBroker } from "./broker.js";

export const IMAGE = "fauxka:0.1.0";
// For clients of the host, and for containers of the same network.
export const HOST_PORT = 9092;
export const NETWORK_PORT = 9093;
export const ADMIN_PORT = 9099;
// The ports of the first of several nodes. Each further node has the next ones, up to 16 nodes.
export const HOST_PORT_OF_SEVERAL = 19092;
export const NETWORK_PORT_OF_SEVERAL = 29092;
const ADVERTISED_FILE = "/tmp/advertised";
const START_MS_MAX = 30_000;
// How often the broker is asked, and how long for. A start takes less than a second.
const POLL_MS = 250;
const SEPARATORS: Readonly<Record<string, string>> = { ".": "_", _: "__", "-": "___" };

/**
 * A container with a broker or several. Containers of the same network reach it at NETWORK_PORT of its alias, which
 * withNetworkAliases sets; several nodes at the ports from NETWORK_PORT_OF_SEVERAL on.
 */
export class FauxkaContainer extends GenericContainer {
  private readonly hostPorts: readonly number[];
  private readonly firstNetworkPort: number;

  /** image: name and tag. nodes: how many. racks: of each node. */
  constructor(image = IMAGE, { nodes = 1, racks = [] }: { nodes?: number; racks?: readonly string[] } = {}) {
    super(image);
    const firstHostPort = nodes === 1 ? HOST_PORT : HOST_PORT_OF_SEVERAL;
    this.firstNetworkPort = nodes === 1 ? NETWORK_PORT : NETWORK_PORT_OF_SEVERAL;
    this.hostPorts = Array.from({ length: nodes }, (_, index) => firstHostPort + index);
    this.withExposedPorts(...this.hostPorts, ADMIN_PORT);
    this.withEnvironment({
      FAUXKA_NODES: String(nodes),
      ...(racks.length ? { FAUXKA_RACKS: racks.join(",") } : {}),
      KAFKA_LISTENERS: `HOST://0.0.0.0:${firstHostPort},NETWORK://0.0.0.0:${this.firstNetworkPort}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: "HOST:PLAINTEXT,NETWORK:PLAINTEXT",
      FAUXKA_ADVERTISED_FILE: ADVERTISED_FILE,
    });
    this.withWaitStrategy(new WaitForNothing());
  }

  /** Sets a key of Kafka's broker configs, such as num.partitions. */
  withConfig(key: string, value: string): this {
    const variable = key.replace(/[._-]/g, (separator) => SEPARATORS[separator] ?? separator).toUpperCase();
    return this.withEnvironment({ [`KAFKA_${variable}`]: value });
  }

  /** Starts; clients can connect when the promise is fulfilled. Rejected after 30 s, or those of withStartupTimeout. */
  override async start(): Promise<StartedFauxkaContainer> {
    return new StartedFauxkaContainer(await super.start(), this.hostPorts, this.environment.FAUXKA_ADMIN_TOKEN);
  }

  protected override async containerStarted(container: StartedTestContainer, inspected: InspectResult): Promise<void> {
    const name = this.networkAliases[0] ?? container.getHostname();
    const lines = this.hostPorts.map(
      (port, index) => `HOST://${published(container, port)},NETWORK://${name}:${this.firstNetworkPort + index}\n`,
    );
    await container.copyContentToContainer([{ content: lines.join(""), target: ADVERTISED_FILE }]);
    const client = await getContainerRuntimeClient();
    const { hostIps } = client.info.containerRuntime;
    const ports = BoundPorts.fromInspectResult(hostIps, inspected).filter(this.exposedPorts);
    const ready = Wait.forHttp("/readyz", ADMIN_PORT).withReadTimeout(POLL_MS);
    ready.withStartupTimeout(this.startupTimeoutMs ?? START_MS_MAX);
    await waitForContainer(client, client.container.getById(container.getId()), ready, ports);
  }
}

/** A running container. */
export class StartedFauxkaContainer extends AbstractStartedContainer {
  /** The fault rules, the verdict and the other calls of the admin API. */
  readonly broker: RemoteBroker;

  constructor(
    container: StartedTestContainer,
    private readonly hostPorts: readonly number[],
    adminToken?: string,
  ) {
    super(container);
    this.broker = new RemoteBroker(`http://${this.getAdminAddress()}`, { token: adminToken });
  }

  /** Returns "host:port" for a client; of several nodes all, joined by commas. */
  getBootstrapServer(): string {
    return this.hostPorts.map((port) => published(this, port)).join(",");
  }

  /** Returns "host:port" of the admin API. */
  getAdminAddress(): string {
    return published(this, ADMIN_PORT);
  }
}

/** The broker is ready after it has the file, which is copied when this strategy is fulfilled. */
class WaitForNothing extends StartupCheckStrategy {
  checkStartupState(): Promise<StartupStatus> {
    return Promise.resolve("SUCCESS");
  }
}

function published(container: StartedTestContainer, port: number): string {
  return `${container.getHost()}:${container.getMappedPort(port)}`;
}
