// The module of testcontainers-go as its documentation uses it. The image has the name of Confluent's image here, so that
// nothing else differs from a test with Kafka.
package modules

import (
	"context"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go/modules/kafka"
	"github.com/twmb/franz-go/pkg/kgo"
)

const waitMax = 60 * time.Second

func TestKafkaModule(t *testing.T) {
	for _, image := range []string{"confluentinc/confluent-local:7.5.0", "confluentinc/cp-kafka:7.6.0", "localhost/fauxka:0.1.0"} {
		t.Run(image, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), waitMax)
			defer cancel()
			container, err := kafka.Run(ctx, image, kafka.WithClusterID("test-cluster"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = container.Terminate(context.Background()) })
			brokers, err := container.Brokers(ctx)
			if err != nil {
				t.Fatal(err)
			}

			roundTrip(ctx, t, brokers)
		})
	}
}

// roundTrip sends one record and reads it back through a consumer group.
func roundTrip(ctx context.Context, t *testing.T, brokers []string) {
	t.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...),
		kgo.AllowAutoTopicCreation(),
		// A client asks again for the metadata of a topic it creates: 5 s later by default.
		kgo.MetadataMinAge(10*time.Millisecond),
		kgo.ConsumeTopics("orders"),
		kgo.ConsumerGroup("readers"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("one coffee")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	fetches := client.PollFetches(ctx)
	if err := fetches.Err(); err != nil {
		t.Fatal(err)
	}
	if records := fetches.Records(); len(records) != 1 || string(records[0].Value) != "one coffee" {
		t.Fatalf("%v", records)
	}
}
