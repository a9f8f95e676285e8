package container_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"fauxka"
	"fauxka/container"
)

const startMax = 2 * time.Minute

// run starts the image of FAUXKA_IMAGE with a container that ends with the test, and returns it with an idempotent producer.
func run(t *testing.T, options ...testcontainers.ContainerCustomizer) (*container.FauxkaContainer, *kgo.Client) {
	t.Helper()
	image := os.Getenv("FAUXKA_IMAGE")
	if image == "" {
		t.Skip("needs an image of fauxka, named by FAUXKA_IMAGE")
	}
	ctx, cancel := context.WithTimeout(t.Context(), startMax)
	defer cancel()
	started, err := container.Run(ctx, image, options...)
	testcontainers.CleanupContainer(t, started)
	check(t, err)
	bootstrap, err := started.BootstrapServers(ctx)
	check(t, err)
	producer, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap...), kgo.AllowAutoTopicCreation(), kgo.MetadataMinAge(10*time.Millisecond))
	check(t, err)
	t.Cleanup(producer.Close)
	return started, producer
}

func send(t *testing.T, producer *kgo.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startMax)
	defer cancel()
	order := &kgo.Record{Topic: "orders", Key: []byte("order-1"), Value: []byte("one coffee")}
	check(t, producer.ProduceSync(ctx, order).FirstErr())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLostAcknowledgementInAContainer(t *testing.T) {
	started, producer := run(t)
	rule, err := started.Broker.Faults.Add(fauxka.LostAck(), fauxka.Topic("orders"))
	check(t, err)

	send(t, producer)

	check(t, rule.AwaitHits(1, startMax))
	verdict, err := started.Broker.Verdict("orders")
	check(t, err)
	verdict.AssertExactlyOnce(t)
	if verdict.Batches.DuplicatesRecognised != 1 {
		t.Errorf("%+v", verdict)
	}
}

func TestLeaderIsKilledInAContainerWithThreeNodes(t *testing.T) {
	started, producer := run(t, container.WithNodes(3, "a", "b", "c"), container.WithConfig("default.replication.factor", "3"))
	check(t, started.Broker.Topics.Create("orders", 1, nil))
	send(t, producer)
	partitions, err := started.Broker.Nodes.Partitions("orders")
	check(t, err)

	check(t, started.Broker.Nodes.Kill(partitions[0].Leader, true))
	send(t, producer)

	verdict, err := started.Broker.Verdict("orders")
	check(t, err)
	verdict.AssertExactlyOnce(t)
	nodes, err := started.Broker.Nodes.List()
	check(t, err)
	if verdict.Records.InLog != 2 || len(partitions[0].Replicas) != 3 || nodes[2].Rack != "c" {
		t.Errorf("%+v, %+v, %+v", verdict, partitions, nodes)
	}
}
