package fauxka_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fauxka"
)

// recordingT keeps the message of a failed assertion.
type recordingT struct {
	testing.TB
	message string
}

func (t *recordingT) Helper() {}

func (t *recordingT) Fatal(arguments ...any) { t.message += fmt.Sprint(arguments...) }

func TestRetryAfterALostAcknowledgementIsRecognised(t *testing.T) {
	broker, bootstrap := oneNode(t)
	rule := must(broker.Faults.Add(fauxka.LostAck(), fauxka.Topic(topic)))

	send(t, newProducer(t, bootstrap), 1)

	check(t, rule.AwaitHits(1, waitMax))
	verdict := must(broker.Verdict(topic))
	verdict.AssertExactlyOnce(t)
	if verdict.Batches.AppendedOnce != 1 || verdict.Batches.DuplicatesRecognised != 1 || must(rule.Hits()) != 1 {
		t.Errorf("%+v", verdict)
	}
}

func TestProducerThatExpiredSendsOnAsWithKafka(t *testing.T) {
	for name, expire := range map[string]func(broker *fauxka.Broker, producerID int64) error{
		"by a call":    func(broker *fauxka.Broker, id int64) error { return broker.Producers.Expire(id, fauxka.Topic(topic)) },
		"by the clock": func(broker *fauxka.Broker, _ int64) error { return broker.Clock.Advance(48 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			broker, bootstrap := oneNode(t)
			producer := newProducer(t, bootstrap)
			send(t, producer, 1)
			before := must(broker.Producers.List())

			check(t, expire(broker, before[0].ProducerID))
			expired := must(broker.Producers.List())
			send(t, producer, 2)

			// Kafka accepts any sequence of a producer that the partition does not know.
			after := must(broker.Producers.List())
			if len(before) != 1 || len(expired) != 0 || len(after) != 1 {
				t.Fatalf("%+v, %+v, %+v", before, expired, after)
			}
			if after[0].ProducerID != before[0].ProducerID || before[0].NextSequence != 1 || after[0].NextSequence != 2 {
				t.Errorf("%+v, %+v", before, after)
			}
			must(broker.Verdict(topic)).AssertExactlyOnce(t)
		})
	}
}

func TestRetryOfAProducerThatExpiredIsStoredTwice(t *testing.T) {
	broker, bootstrap := oneNode(t)
	rule := must(broker.Faults.Add(fauxka.At(fauxka.Applied, fauxka.Hold()), fauxka.API("Produce"), fauxka.Topic(topic)))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		send(t, newProducer(t, bootstrap), 1)
	}()
	check(t, rule.AwaitHits(1, waitMax))

	check(t, broker.Producers.Expire(must(broker.Producers.List())[0].ProducerID))
	check(t, broker.Reset("faults"))
	<-sent

	failed := &recordingT{}
	must(broker.Verdict(topic)).AssertExactlyOnce(failed)
	if !strings.Contains(failed.message, "appended twice: partition 0, offsets [0 1]") {
		t.Errorf("%q", failed.message)
	}
}

func TestNothingIsLostWhenTheLeaderIsKilled(t *testing.T) {
	broker, bootstrap := threeNodes(t)
	check(t, broker.Topics.Create(topic, 1, map[string]string{"min.insync.replicas": "2"}))
	producer := newProducer(t, bootstrap)
	send(t, producer, 1)
	killed := must(broker.Nodes.Partitions(topic))[0].Leader

	check(t, broker.Nodes.Kill(killed, true))
	for number := 2; number <= 10; number++ {
		send(t, producer, number)
	}

	if now := must(broker.Nodes.Partitions(topic))[0]; now.Leader == killed || len(now.ISR) != 2 {
		t.Errorf("%+v", now)
	}
	verdict := must(broker.Verdict(topic))
	verdict.AssertExactlyOnce(t)
	if verdict.Records.InLog != 10 {
		t.Errorf("%+v", verdict)
	}
	check(t, broker.Nodes.Start(killed))
	check(t, broker.Nodes.MoveLeader(topic, 0, killed))
}

func TestLostRecordFailsTheAssertionAndIsNamed(t *testing.T) {
	broker, bootstrap := oneNode(t)
	must(broker.Faults.Add(fauxka.FalseSuccess(), fauxka.Topic(topic)))
	failed := &recordingT{}

	send(t, newProducer(t, bootstrap), 1)

	must(broker.Verdict(topic)).AssertExactlyOnce(failed)
	for _, part := range []string{"orders: expected exactly once", "1 acknowledged batches lost", "acknowledged lost: partition 0",
		"(rule", "error at received)"} {
		if !strings.Contains(failed.message, part) {
			t.Errorf("%q has no %q", failed.message, part)
		}
	}
}

func TestTopicToWhichNothingWasProducedFailsTheAssertion(t *testing.T) {
	broker, _ := oneNode(t)
	check(t, broker.Topics.Create(topic, 1, nil))
	failed := &recordingT{}

	must(broker.Verdict(topic)).AssertExactlyOnce(failed)

	if !strings.Contains(failed.message, "nothing was produced") {
		t.Errorf("%q", failed.message)
	}
}

func TestCopyOfAnEventIsFoundByItsKey(t *testing.T) {
	broker, bootstrap := oneNode(t)
	producer := newProducer(t, bootstrap)
	send(t, producer, 1)
	send(t, producer, 1)

	must(broker.Verdict(topic)).AssertExactlyOnce(t)
	if verdict := must(broker.VerdictByEventID(topic, "key")); verdict.Records.Duplicates != 1 {
		t.Errorf("%+v", verdict)
	}
}
