// Programs of the family with franz-go: family SHAPE DEFECT. The names are those of defect.py; the twin has "none".
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	orders, copies, group = "orders", "copies", "copy"
	// As in clients/client.py.
	requestMax, deliveryMax, retryPause = time.Second, 3 * time.Second, 20 * time.Millisecond
	sessionMax, heartbeat               = 3 * time.Second, 300 * time.Millisecond
	// Of a program that does not wait long enough.
	short = 800 * time.Millisecond
)

var events = []string{"one coffee", "two teas", "three cakes"}

var (
	defect string
	// Whether the client has its default configuration.
	isDefault = os.Getenv("FAMILY_CONFIGURATION") == "default"
	callMax   = 6 * time.Second
)

func main() {
	if isDefault {
		callMax = time.Minute
	}
	shapes := map[string]func() error{"producer": sendTogether, "sync producer": sendEach, "copier": copyAll}
	defect = os.Args[2]
	if err := shapes[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func connected(options ...kgo.Opt) (*kgo.Client, error) {
	options = append(options, kgo.SeedBrokers(os.Getenv("KAFKA_BOOTSTRAP_SERVERS")))
	if isDefault {
		return kgo.NewClient(options...)
	}
	return kgo.NewClient(append(options,
		kgo.RecordDeliveryTimeout(deliveryMax),
		kgo.ProduceRequestTimeout(requestMax),
		kgo.RequestTimeoutOverhead(requestMax),
		kgo.RetryTimeout(deliveryMax),
		kgo.RetryBackoffFn(func(int) time.Duration { return retryPause }),
		kgo.MetadataMinAge(retryPause),
	)...)
}

// sendTogether sends the events at once, at least once each.
func sendTogether() error {
	options := []kgo.Opt{}
	if defect == "ACKS_0" {
		options = append(options, kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.NoAck()))
	}
	client, err := connected(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	errs := make([]error, len(events))
	for number, event := range events {
		record := &kgo.Record{Topic: orders, Value: []byte(event)}
		client.Produce(context.Background(), record, func(_ *kgo.Record, err error) { errs[number] = err })
	}
	limit := callMax
	if defect == "FLUSH_RESULT_IGNORED" || defect == "NO_FLUSH" {
		limit = short
	}
	within, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err = client.Flush(within)
	switch defect {
	case "FLUSH_RESULT_IGNORED":
		return errors.Join(errs...)
	case "REPORT_IGNORED":
		return err
	case "NO_FLUSH":
		return nil
	}
	return errors.Join(append(errs, err)...)
}

// sendEach sends the events one after the other, each once.
func sendEach() error {
	options := []kgo.Opt{}
	if defect == "NOT_IDEMPOTENT" {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	client, err := connected(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, event := range events {
		err := sent(client, event)
		if err != nil && defect == "NEW_PRODUCER" {
			other, _ := connected()
			err = sent(other, event)
			other.Close()
		}
		if err != nil && defect != "ERROR_SWALLOWED" {
			return err
		}
	}
	return nil
}

// sent sends an event. A program that makes a new producer does not wait for the report as long as the client does.
func sent(client *kgo.Client, event string) error {
	limit := callMax
	if defect == "NEW_PRODUCER" {
		limit = short
	}
	ended := make(chan error, 1)
	record := &kgo.Record{Topic: orders, Value: []byte(event)}
	client.Produce(context.Background(), record, func(_ *kgo.Record, err error) { ended <- err })
	select {
	case err := <-ended:
		return err
	case <-time.After(limit):
		return errors.New("no delivery report")
	}
}

// copyAll copies each order as a member of a group, and commits what is copied.
func copyAll() error {
	options := []kgo.Opt{
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(orders),
		kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if !isDefault {
		short := []kgo.Opt{kgo.SessionTimeout(sessionMax), kgo.RebalanceTimeout(sessionMax), kgo.HeartbeatInterval(heartbeat)}
		options = append(options, short...)
	}
	client, err := connected(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	within, cancel := context.WithTimeout(context.Background(), 2*callMax)
	defer cancel()
	next, err := committed(within, client)
	if err != nil {
		return err
	}
	for next < len(events) {
		fetches := client.PollRecords(within, len(events))
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, record := range fetches.Records() {
			if err := copied(within, client, record); err != nil {
				return err
			}
			next = int(record.Offset) + 1
		}
	}
	return nil
}

// committed returns the offset that the group has committed.
func committed(within context.Context, client *kgo.Client) (int, error) {
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group = group
	request.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: orders, Partitions: []int32{0}}}
	response, err := request.RequestWith(within, client)
	if err != nil {
		return 0, err
	}
	partition := response.Topics[0].Partitions[0]
	return max(0, int(partition.Offset)), errors.Join(kerr.ErrorForCode(response.ErrorCode), kerr.ErrorForCode(partition.ErrorCode))
}

func copied(within context.Context, client *kgo.Client, record *kgo.Record) error {
	if defect == "COMMIT_BEFORE" {
		if err := client.CommitRecords(within, record); err != nil {
			return err
		}
	}
	copy := &kgo.Record{Topic: copies, Value: record.Value}
	err := client.ProduceSync(within, copy).FirstErr()
	if err != nil && defect != "ERROR_SWALLOWED" && defect != "POISON_SKIPPED" {
		return err
	}
	if defect == "COMMIT_BEFORE" || (err != nil && defect == "POISON_SKIPPED") {
		return nil
	}
	return client.CommitRecords(within, record)
}
