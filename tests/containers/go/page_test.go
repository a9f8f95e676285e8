package modules

import (
	"context"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/kafka"
)

// The program of docs/containers.md: it compiles, and is not run. TestKafkaModule does the same with other names.
var _ = func(ctx context.Context, t *testing.T) ([]string, error) {
	container, err := kafka.Run(ctx, "fauxka:8.3.0")
	testcontainers.CleanupContainer(t, container)
	brokers, err := container.Brokers(ctx)
	return brokers, err
}
