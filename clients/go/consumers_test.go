package fauxka_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"fauxka"
)

// seedOrders appends orders with the ids from 0 on to a new topic.
func seedOrders(t *testing.T, broker *fauxka.Broker, topic string, ids ...int) {
	t.Helper()
	check(t, broker.Topics.Create(topic, 1, nil))
	for _, id := range ids {
		header := fauxka.RecordHeader{Name: "id", Value: fauxka.Bytes(fmt.Sprintf("A-%d", id))}
		check(t, broker.Topics.Seed(topic, fauxka.SeedRecord{Value: fauxka.Bytes("v"), Headers: []fauxka.RecordHeader{header}}))
	}
}

// readOrders reads and commits so many orders as the group billing.
func readOrders(t *testing.T, bootstrap string, count int) {
	t.Helper()
	client := must(kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup("billing"), kgo.ConsumeTopics(topic),
		kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())))
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	for read := 0; read < count; {
		records := client.PollRecords(ctx, count-read).Records()
		check(t, ctx.Err())
		check(t, client.CommitRecords(ctx, records...))
		read += len(records)
	}
}

func TestGroupThatProcessesARecordTwiceFailsTheAssertion(t *testing.T) {
	broker, bootstrap := oneNode(t)
	seedOrders(t, broker, topic, 0, 1, 2)
	readOrders(t, bootstrap, 3)
	failed := &recordingT{}

	must(broker.GroupVerdict("billing")).AssertProcessedOnce(failed)
	check(t, broker.Processed("billing", topic, 0, 0, 1))
	check(t, broker.ProcessedEvents("billing", topic, "header:id", "A-2"))

	verdict := must(broker.GroupVerdict("billing"))
	verdict.AssertDeliveredOnce(t)
	verdict.AssertNothingSkipped(t)
	verdict.AssertProcessedOnce(t)
	verdict.AssertLag(t, 0)
	if !strings.Contains(failed.message, "no application has reported") {
		t.Errorf("%q", failed.message)
	}

	check(t, broker.Processed("billing", topic, 0, 1))
	must(broker.GroupVerdict("billing")).AssertProcessedOnce(failed)
	if !strings.Contains(failed.message, "processed twice: orders-0, offsets [1 1]") {
		t.Errorf("%q", failed.message)
	}
}

func TestEventThatAnApplicationLosesFailsTheAssertion(t *testing.T) {
	broker, bootstrap := oneNode(t)
	seedOrders(t, broker, topic, 0, 1, 2)
	seedOrders(t, broker, "invoices", 1, 0)
	readOrders(t, bootstrap, 3)
	failed, unordered := &recordingT{}, &recordingT{}

	verdict := must(broker.FlowVerdict(fauxka.Flow{From: topic, To: "invoices", EventID: "header:id", Group: "billing"}))

	verdict.AssertExactlyOnce(failed)
	verdict.AssertInOrder(unordered)
	verdict.AssertNoDuplicates(t)
	lost := "lost: 1 events, such as A-2: group billing has committed them, and their output was never written"
	if !strings.Contains(failed.message, lost) || !strings.Contains(unordered.message, "out of order: 1 events, such as A-0") {
		t.Errorf("%q, %q", failed.message, unordered.message)
	}
	if verdict.Group != "billing" || verdict.Events.Once != 2 || verdict.Findings[0].Events[0].Input[0].Offset != 2 {
		t.Errorf("%+v", verdict)
	}
	check(t, broker.Topics.Seed("invoices", fauxka.SeedRecord{
		Headers: []fauxka.RecordHeader{{Name: "id", Value: fauxka.Bytes("A-2")}},
	}))
	must(broker.FlowVerdict(fauxka.Flow{From: topic, To: "invoices", EventID: "header:id"})).AssertExactlyOnce(t)
}
