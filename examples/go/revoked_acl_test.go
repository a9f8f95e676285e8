// A user who loses the ACL of a topic: the next order fails, and the one before is stored.
package orders

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const allowAliceToWrite = `{
	"principal": "User:alice", "operation": "WRITE",
	"resource_type": "TOPIC", "name": "orders"
}`

func TestOrderAfterTheACLIsRevokedIsNotStored(t *testing.T) {
	broker, trusting := startSecured(t)
	broker.ask(t, "/v1/acls", allowAliceToWrite, nil)
	client := newClient(t, broker, trusting, "secret")
	defer client.Close()
	if err := send(client, "one coffee"); err != nil {
		t.Fatal(err)
	}

	broker.call(t, http.MethodDelete, "/v1/acls?principal=User:alice", "", nil)
	err := send(client, "one tea")

	if !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("%v", err)
	}
	expectRecords(t, broker, 1)
}

func TestWrongPasswordStoresNothing(t *testing.T) {
	broker, trusting := startSecured(t)
	broker.ask(t, "/v1/acls", allowAliceToWrite, nil)
	client := newClient(t, broker, trusting, "wrong")
	defer client.Close()

	err := client.Ping(context.Background())

	if !errors.Is(err, kerr.SaslAuthenticationFailed) {
		t.Errorf("%v", err)
	}
	expectRecords(t, broker, 0)
}

// startSecured starts a broker with SASL_SSL, the user alice and ACLs, and returns what trusts its authority.
func startSecured(t *testing.T) (*fauxka, *tls.Config) {
	t.Helper()
	folder := t.TempDir()
	broker := startFauxka(t,
		"--listener", "SASL_SSL", "--user", "alice:secret", "--tls-dir", folder, "--seed-topic", "orders:1",
		"-c", "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer")
	pem, err := os.ReadFile(filepath.Join(folder, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	authority := x509.NewCertPool()
	authority.AppendCertsFromPEM(pem)
	return broker, &tls.Config{RootCAs: authority}
}

func newClient(t *testing.T, broker *fauxka, trusting *tls.Config, password string) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker.Bootstrap),
		kgo.DialTLSConfig(trusting),
		kgo.SASL(scram.Auth{User: "alice", Pass: password}.AsSha512Mechanism()),
	)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func send(client *kgo.Client, order string) error {
	record := &kgo.Record{Topic: "orders", Value: []byte(order)}
	return client.ProduceSync(context.Background(), record).FirstErr()
}

func expectRecords(t *testing.T, broker *fauxka, count int) {
	t.Helper()
	var truth verdict
	broker.ask(t, "/v1/verdict?topic=orders", "", &truth)
	if truth.Records.InLog != count {
		t.Errorf("%+v", truth)
	}
}
