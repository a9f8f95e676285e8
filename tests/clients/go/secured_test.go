// Clients in Go over SASL_SSL and with a certificate. docs/security.md shows the lines that configure them.
package secured

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const waitMax = 30 * time.Second

var (
	mechanisms = []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
	values     = []string{"a", "b", "c"}
)

// broker is the address of a broker, and the folder with its certificates.
type broker struct {
	address string
	folder  string
}

// secured is the broker with SASL_SSL and the user alice.
func secured() broker {
	return broker{os.Getenv("SECURED_ADDRESS"), os.Getenv("SECURED_FOLDER")}
}

// mutual is the broker with SSL, whose clients must have a certificate.
func mutual() broker {
	return broker{os.Getenv("MUTUAL_ADDRESS"), os.Getenv("MUTUAL_FOLDER")}
}

// trusting returns a configuration that trusts the authority of the broker.
func (b broker) trusting(t *testing.T) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(filepath.Join(b.folder, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	authority := x509.NewCertPool()
	authority.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: authority}
}

// certified returns a configuration that also has the certificate of a client.
func (b broker) certified(t *testing.T) *tls.Config {
	t.Helper()
	config := b.trusting(t)
	file := filepath.Join(b.folder, "client.pem")
	certificate, err := tls.LoadX509KeyPair(file, file)
	if err != nil {
		t.Fatal(err)
	}
	config.Certificates = []tls.Certificate{certificate}
	return config
}
