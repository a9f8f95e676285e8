// Package container runs fauxka in a container with testcontainers-go, as its modules do.
//
// The host's ports are known only after the start of a container, and the broker has to advertise them. So the broker waits
// for a file with its addresses, which is copied into the container.
package container

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/docker/go-connections/nat"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"fauxka"
)

const (
	adminPort      = nat.Port("9099/tcp")
	advertisedFile = "/tmp/advertised"
	// The ports for clients of the host, and for containers of the same network. Each further of several nodes has the
	// next ones.
	hostPort, networkPort                   = 9092, 9093
	hostPortOfSeveral, networkPortOfSeveral = 19092, 29092
	pollInterval                            = 10 * time.Millisecond
)

// FauxkaContainer is a running broker. Other containers of its network reach it at port 9093 of its alias, several nodes at
// the ports from 29092 on.
type FauxkaContainer struct {
	testcontainers.Container
	// Broker is the client of the admin API.
	Broker    *fauxka.Broker
	listeners []string
}

// Option is an option of Run that is not one of testcontainers.
type Option func(settings *settings)

type settings struct {
	nodes int
	env   map[string]string
}

// Customize does nothing. It makes an Option one of testcontainers, too.
func (o Option) Customize(*testcontainers.GenericContainerRequest) error { return nil }

// WithNodes runs several nodes, up to 16, with the rack of each; without racks they have none.
func WithNodes(count int, racks ...string) Option {
	return func(settings *settings) {
		settings.nodes, settings.env["FAUXKA_NODES"] = count, fmt.Sprint(count)
		if len(racks) > 0 {
			settings.env["FAUXKA_RACKS"] = strings.Join(racks, ",")
		}
	}
}

// WithConfig sets a key of Kafka's broker configs, such as num.partitions.
func WithConfig(key, value string) Option {
	variable := "KAFKA_" + strings.ToUpper(strings.NewReplacer(".", "_", "_", "__", "-", "___").Replace(key))
	return func(settings *settings) { settings.env[variable] = value }
}

// Run starts a container of image and returns when clients can connect. A container that was created and did not start is
// returned with the error, for testcontainers.CleanupContainer.
func Run(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*FauxkaContainer, error) {
	settings := &settings{nodes: 1, env: map[string]string{"FAUXKA_ADVERTISED_FILE": advertisedFile}}
	for _, each := range options {
		if option, ok := each.(Option); ok {
			option(settings)
		}
	}
	host, network := hostPort, networkPort
	if settings.nodes > 1 {
		host, network = hostPortOfSeveral, networkPortOfSeveral
	}
	settings.env["KAFKA_LISTENERS"] = fmt.Sprintf("HOST://0.0.0.0:%d,NETWORK://0.0.0.0:%d", host, network)
	settings.env["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"] = "HOST:PLAINTEXT,NETWORK:PLAINTEXT"
	started := &FauxkaContainer{}
	ports := []string{string(adminPort)}
	for node := range settings.nodes {
		started.listeners = append(started.listeners, fmt.Sprintf("%d/tcp", host+node))
	}
	var alias string
	moduleOptions := []testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(append(ports, started.listeners...)...),
		testcontainers.WithEnv(settings.env),
		testcontainers.WithAdditionalLifecycleHooks(testcontainers.ContainerLifecycleHooks{
			PostStarts: []testcontainers.ContainerHook{func(ctx context.Context, c testcontainers.Container) error {
				started.Container = c
				return started.advertise(ctx, alias, network)
			}},
		}),
	}
	readAlias := testcontainers.CustomizeRequestOption(func(request *testcontainers.GenericContainerRequest) error {
		if len(request.Networks) > 0 && len(request.NetworkAliases[request.Networks[0]]) > 0 {
			alias = request.NetworkAliases[request.Networks[0]][0]
		}
		return nil
	})
	created, err := testcontainers.Run(ctx, image, append(append(moduleOptions, options...), readAlias)...)
	if created == nil {
		return nil, fmt.Errorf("run fauxka: %w", err)
	}
	started.Container = created
	if err != nil {
		return started, fmt.Errorf("run fauxka: %w", err)
	}
	admin, err := started.PortEndpoint(ctx, adminPort, "http")
	started.Broker = fauxka.New(admin)
	return started, err
}

// BootstrapServers returns the addresses of all nodes for clients of the host.
func (c *FauxkaContainer) BootstrapServers(ctx context.Context) ([]string, error) {
	var addresses []string
	for _, port := range c.listeners {
		address, err := c.PortEndpoint(ctx, nat.Port(port), "")
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

// advertise gives the broker its addresses, and returns when it is ready. alias: of its network, "" for its host name.
func (c *FauxkaContainer) advertise(ctx context.Context, alias string, network int) error {
	if alias == "" {
		inspected, err := c.Inspect(ctx)
		if err != nil {
			return err
		}
		alias = inspected.Config.Hostname
	}
	var lines strings.Builder
	for node, port := range c.listeners {
		if err := wait.ForMappedPort(nat.Port(port)).WaitUntilReady(ctx, c); err != nil {
			return err
		}
		address, err := c.PortEndpoint(ctx, nat.Port(port), "HOST")
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s,NETWORK://%s:%d\n", address, alias, network+node)
	}
	if err := c.CopyToContainer(ctx, []byte(lines.String()), advertisedFile, 0o644); err != nil {
		return err
	}
	return wait.ForHTTP("/readyz").WithPort(adminPort).WithPollInterval(pollInterval).WaitUntilReady(ctx, c)
}
