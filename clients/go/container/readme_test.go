package container_test

import (
	"context"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"

	"fauxka"
	"fauxka/container"
)

// The programs of the README files: they compile, and are not run.
var _ = []func(t *testing.T, ctx context.Context, sendOrder func(t *testing.T, bootstrap ...string)) error{
	func(t *testing.T, _ context.Context, sendOrder func(t *testing.T, bootstrap ...string)) error {
		broker := fauxka.New("http://127.0.0.1:9099") // fauxka serve
		_, err := broker.Faults.Add(fauxka.LostAck(), fauxka.Topic("orders"))
		sendOrder(t, "127.0.0.1:9092") // the code under test
		verdict, err := broker.Verdict("orders")
		verdict.AssertExactlyOnce(t)
		return err
	},
	func(t *testing.T, ctx context.Context, sendOrder func(t *testing.T, bootstrap ...string)) error {
		started, err := container.Run(ctx, "fauxka:0.1.0") // import "fauxka/container"
		testcontainers.CleanupContainer(t, started)
		rule, err := started.Broker.Faults.Add(fauxka.LostAck(), fauxka.Topic("orders"))
		addresses, err := started.BootstrapServers(ctx)
		sendOrder(t, addresses...)
		err = rule.AwaitHits(1, 5*time.Second)
		verdict, err := started.Broker.Verdict("orders")
		verdict.AssertExactlyOnce(t)
		return err
	},
	func(t *testing.T, ctx context.Context, sendOrder func(t *testing.T, bootstrap ...string)) error {
		started, err := container.Run(ctx, "fauxka:0.1.0")
		_, err = started.Broker.Faults.Add(fauxka.LostAck(), fauxka.Topic("orders"))
		addresses, err := started.BootstrapServers(ctx)
		sendOrder(t, addresses...)
		verdict, err := started.Broker.Verdict("orders")
		verdict.AssertExactlyOnce(t)
		return err
	},
	func(_ *testing.T, _ context.Context, _ func(t *testing.T, bootstrap ...string)) error {
		var broker *fauxka.Broker
		_, err := broker.Faults.Add(
			fauxka.At(fauxka.Answering, fauxka.Truncate(10)),
			fauxka.API("Fetch"), fauxka.ClientID(fauxka.Regex("orders-.*")), fauxka.Times(3))
		return err
	},
}
