package container_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"

	"fauxka"
	"fauxka/container"
)

// The programs of the readme: they compile, and are not run.
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

func TestReadmeShowsLinesThatCompile(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	check(t, err)
	source, err := os.ReadFile("readme_test.go")
	check(t, err)

	blocks := strings.Split(string(readme), "```go\n")[1:]

	for _, block := range blocks {
		for line := range strings.Lines(strings.Split(block, "```")[0]) {
			if !strings.Contains(string(source), strings.TrimSpace(line)) {
				t.Errorf("not in readme_test.go: %s", line)
			}
		}
	}
	if len(blocks) != 3 {
		t.Errorf("%d programs", len(blocks))
	}
}
