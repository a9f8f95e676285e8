// An order whose acknowledgement is lost, with a broker in a container: it is stored once.
package orders

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The batch is appended; then the connection is closed instead of a response, once.
const loseOneAck = `{
	"match": {"api": "Produce", "topic": "orders"},
	"point": "applied",
	"action": {"kind": "close"}
}`

func TestOrderIsStoredOnceAlthoughItsAcknowledgementIsLost(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	broker := startFauxka(ctx, t)
	var rule struct{ ID int }
	broker.ask(t, "/v1/rules", loseOneAck, &rule)

	// After a closed connection franz-go requests the metadata before it sends again: 5 s later by default.
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker.Brokers...), kgo.AllowAutoTopicCreation(), kgo.MetadataMinAge(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	order := &kgo.Record{Topic: "orders", Key: []byte("order-1"), Value: []byte("one coffee")}
	if err := client.ProduceSync(ctx, order).FirstErr(); err != nil {
		t.Fatal(err)
	}

	var verdict struct {
		Batches struct {
			AppendedOnce         int `json:"appended_once"`
			DuplicatesRecognised int `json:"duplicates_recognised"`
		}
		Records struct{ Duplicates int }
	}
	broker.ask(t, "/v1/verdict?topic=orders", "", &verdict)
	if verdict.Batches.AppendedOnce != 1 || verdict.Batches.DuplicatesRecognised != 1 || verdict.Records.Duplicates != 0 {
		t.Errorf("%+v", verdict)
	}
}
