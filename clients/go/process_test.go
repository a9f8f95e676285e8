package fauxka_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"fauxka"
)

const (
	waitMax = 30 * time.Second
	topic   = "orders"
)

// oneNode returns the broker of FAUXKA_ADMIN and FAUXKA_BOOTSTRAP, reset.
func oneNode(t *testing.T) (*fauxka.Broker, string) {
	t.Helper()
	return brokerOf(t, "FAUXKA_ADMIN", "FAUXKA_BOOTSTRAP")
}

// threeNodes returns the broker of FAUXKA_CLUSTER_ADMIN and FAUXKA_CLUSTER_BOOTSTRAP, reset.
func threeNodes(t *testing.T) (*fauxka.Broker, string) {
	t.Helper()
	return brokerOf(t, "FAUXKA_CLUSTER_ADMIN", "FAUXKA_CLUSTER_BOOTSTRAP")
}

func brokerOf(t *testing.T, admin, bootstrap string) (*fauxka.Broker, string) {
	t.Helper()
	if os.Getenv(admin) == "" || os.Getenv(bootstrap) == "" {
		t.Skipf("needs a running fauxka serve, named by %s and %s", admin, bootstrap)
	}
	broker := fauxka.New(os.Getenv(admin))
	check(t, broker.Reset("all"))
	return broker, os.Getenv(bootstrap)
}

// newProducer returns an idempotent producer, which is closed with the test.
func newProducer(t *testing.T, bootstrap string) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...),
		kgo.AllowAutoTopicCreation(),
		// After a closed connection franz-go requests the metadata before it sends again: 5 s later by default.
		kgo.MetadataMinAge(10*time.Millisecond),
	)
	check(t, err)
	t.Cleanup(client.Close)
	return client
}

// send sends an order and waits for its acknowledgement.
func send(t *testing.T, producer *kgo.Client, number int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitMax)
	defer cancel()
	order := &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "order-%d", number), Value: []byte("one coffee")}
	check(t, producer.ProduceSync(ctx, order).FirstErr())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns the result of a call, which has to succeed.
func must[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}
