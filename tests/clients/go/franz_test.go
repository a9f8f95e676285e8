package secured

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func TestFranzGoWritesAndReads(t *testing.T) {
	config := secured().trusting(t)
	login := map[string][]kgo.Opt{
		"PLAIN": {
			kgo.DialTLSConfig(config),
			kgo.SASL(plain.Auth{User: "alice", Pass: "secret"}.AsMechanism()),
		},
		"SCRAM-SHA-256": {
			kgo.DialTLSConfig(config),
			kgo.SASL(scram.Auth{User: "alice", Pass: "secret"}.AsSha256Mechanism()),
		},
		"SCRAM-SHA-512": {
			kgo.DialTLSConfig(config),
			kgo.SASL(scram.Auth{User: "alice", Pass: "secret"}.AsSha512Mechanism()),
		},
	}
	for _, mechanism := range mechanisms {
		t.Run(mechanism, func(t *testing.T) {
			roundTripByFranzGo(t, "franz-"+mechanism, append(login[mechanism], kgo.SeedBrokers(secured().address))...)
		})
	}
}

func TestFranzGoWithACertificateWritesAndReads(t *testing.T) {
	config := mutual().certified(t)
	roundTripByFranzGo(t, "franz-certificate", kgo.SeedBrokers(mutual().address), kgo.DialTLSConfig(config))
}

func TestFranzGoReportsAWrongPassword(t *testing.T) {
	client := newFranzGo(t, kgo.SeedBrokers(secured().address), kgo.DialTLSConfig(secured().trusting(t)),
		kgo.SASL(scram.Auth{User: "alice", Pass: "wrong"}.AsSha512Mechanism()))
	defer client.Close()

	err := client.Ping(context.Background())

	if !errors.Is(err, kerr.SaslAuthenticationFailed) {
		t.Fatalf("%v", err)
	}
}

func newFranzGo(t *testing.T, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	// After a new topic franz-go requests the metadata again: 5 s later by default.
	options = append(options, kgo.AllowAutoTopicCreation(), kgo.MetadataMinAge(10*time.Millisecond))
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// roundTripByFranzGo writes with idempotence, which is the default, and reads back.
func roundTripByFranzGo(t *testing.T, topic string, options ...kgo.Opt) {
	t.Helper()
	client := newFranzGo(t, append(options,
		kgo.DefaultProduceTopic(topic),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)...)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	for _, value := range values {
		if err := client.ProduceSync(ctx, kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	var read []string
	for len(read) < len(values) {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(record *kgo.Record) { read = append(read, string(record.Value)) })
	}
	if !slices.Equal(read, values) {
		t.Fatalf("%v", read)
	}
}
