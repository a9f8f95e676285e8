package secured

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// scramClient adapts xdg-go/scram to sarama, which has no SCRAM of its own.
type scramClient struct {
	hash         scram.HashGeneratorFcn
	conversation *scram.ClientConversation
}

func (c *scramClient) Begin(user, password, authorizationID string) error {
	client, err := c.hash.NewClient(user, password, authorizationID)
	if err == nil {
		c.conversation = client.NewConversation()
	}
	return err
}

func (c *scramClient) Step(challenge string) (string, error) { return c.conversation.Step(challenge) }

func (c *scramClient) Done() bool { return c.conversation.Done() }

var hashes = map[string]scram.HashGeneratorFcn{"SCRAM-SHA-256": scram.SHA256, "SCRAM-SHA-512": scram.SHA512}

func TestSaramaWritesAndReads(t *testing.T) {
	for _, mechanism := range mechanisms {
		t.Run(mechanism, func(t *testing.T) {
			config := loginBySarama(t)
			if hash, isScram := hashes[mechanism]; isScram {
				config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{hash: hash} }
			}
			config.Net.SASL.Mechanism = sarama.SASLMechanism(mechanism)
			roundTripBySarama(t, "sarama-"+mechanism, secured(), config)
		})
	}
}

func TestSaramaWithACertificateWritesAndReads(t *testing.T) {
	certified := mutual().certified(t)
	config := sarama.NewConfig()
	config.Net.TLS.Enable = true
	config.Net.TLS.Config = certified
	roundTripBySarama(t, "sarama-certificate", mutual(), config)
}

func TestSaramaReportsAWrongPassword(t *testing.T) {
	config := loginBySarama(t)
	config.Net.SASL.Password = "wrong"
	config.Metadata.Retry.Max = 0

	_, err := sarama.NewClient([]string{secured().address}, config)

	if !errors.Is(err, sarama.ErrSASLAuthenticationFailed) {
		t.Fatalf("%v", err)
	}
}

// loginBySarama returns the configuration of the user alice.
func loginBySarama(t *testing.T) *sarama.Config {
	t.Helper()
	trusting := secured().trusting(t)
	config := sarama.NewConfig()
	config.Net.TLS.Enable = true
	config.Net.TLS.Config = trusting
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = sarama.SASLTypeSCRAMSHA512
	config.Net.SASL.User = "alice"
	config.Net.SASL.Password = "secret"
	config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{hash: scram.SHA512} }
	return config
}

// roundTripBySarama writes with idempotence, and reads back.
func roundTripBySarama(t *testing.T, topic string, b broker, config *sarama.Config) {
	t.Helper()
	config.Version = sarama.V4_0_0_0
	config.Producer.Idempotent = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Net.MaxOpenRequests = 1
	client, err := sarama.NewClient([]string{b.address}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	for _, value := range values {
		if _, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(value)}); err != nil {
			t.Fatal(err)
		}
	}
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		t.Fatal(err)
	}
	defer partition.Close()
	var read []string
	for len(read) < len(values) {
		select {
		case message := <-partition.Messages():
			read = append(read, string(message.Value))
		case <-time.After(waitMax):
			t.Fatalf("%v after %s", read, waitMax)
		}
	}
	if !slices.Equal(read, values) {
		t.Fatalf("%v", read)
	}
}
