// An order whose acknowledgement is lost: how franz-go retries, with and without idempotence.
package orders

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The batch is appended; then the connection is closed instead of a response, once.
const loseOneAck = `{
	"name": "lose the ack of an order",
	"match": {"api": "Produce", "topic": "orders"},
	"point": "applied",
	"action": {"kind": "close"}
}`

type verdict struct {
	Batches struct {
		AppendedOnce         int `json:"appended_once"`
		AppendedTwice        int `json:"appended_twice"`
		DuplicatesRecognised int `json:"duplicates_recognised"`
	}
	Records struct {
		InLog      int `json:"in_log"`
		Duplicates int
	}
	Findings []struct {
		Kind    string
		Offsets []int64
		Why     string
	}
}

func TestIdempotentProducerStoresTheOrderOnce(t *testing.T) {
	broker := startFauxka(t)
	var rule struct{ ID int }
	broker.ask(t, "/v1/rules", loseOneAck, &rule)

	stored := sendOrder(t, broker)

	broker.ask(t, fmt.Sprintf("/v1/rules/%d/await?hits=1&timeout_ms=5000", rule.ID), "", nil)
	var truth verdict
	broker.ask(t, "/v1/verdict?topic=orders&event_id=key", "", &truth)
	if stored.Offset != 0 {
		t.Errorf("the retry returned offset %d, the first copy is at 0", stored.Offset)
	}
	if truth.Batches.AppendedOnce != 1 || truth.Batches.DuplicatesRecognised != 1 || truth.Records.Duplicates != 0 {
		t.Errorf("%+v", truth)
	}
}

func TestWithoutIdempotenceTheOrderIsStoredTwice(t *testing.T) {
	broker := startFauxka(t)
	broker.ask(t, "/v1/rules", loseOneAck, nil)

	sendOrder(t, broker, kgo.DisableIdempotentWrite())

	var truth verdict
	broker.ask(t, "/v1/verdict?topic=orders&event_id=key", "", &truth)
	if truth.Batches.AppendedTwice != 1 || truth.Records.InLog != 2 || truth.Records.Duplicates != 1 {
		t.Errorf("%+v", truth)
	}
	if len(truth.Findings) != 1 || !slices.Equal(truth.Findings[0].Offsets, []int64{0, 1}) {
		t.Errorf("%+v", truth.Findings)
	}
}

func sendOrder(t *testing.T, broker *fauxka, options ...kgo.Opt) *kgo.Record {
	t.Helper()
	options = append(options,
		kgo.SeedBrokers(broker.Bootstrap),
		kgo.AllowAutoTopicCreation(),
		// After a closed connection franz-go requests the metadata before it sends again: 5 s later by default.
		kgo.MetadataMinAge(10*time.Millisecond),
	)
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	order := &kgo.Record{Topic: "orders", Key: []byte("order-1"), Value: []byte("one coffee")}
	if err := client.ProduceSync(context.Background(), order).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return order
}
