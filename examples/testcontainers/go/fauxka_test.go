package orders

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/kafka"
)

// fauxka is a broker in a container: the module for Kafka, with the port of the admin API.
type fauxka struct {
	Brokers []string
	admin   string
}

// startFauxka starts a broker that stops with the test.
func startFauxka(ctx context.Context, t *testing.T) *fauxka {
	t.Helper()
	image := cmp.Or(os.Getenv("FAUXKA_IMAGE"), "fauxka:0.1.0")
	container, err := kafka.Run(ctx, image, testcontainers.WithExposedPorts("9099/tcp"))
	testcontainers.CleanupContainer(t, container)
	if err != nil {
		t.Fatal(err)
	}
	brokers, err := container.Brokers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := container.PortEndpoint(ctx, "9099/tcp", "http")
	if err != nil {
		t.Fatal(err)
	}
	return &fauxka{brokers, admin}
}

// ask calls the admin API: with GET without a body, with POST otherwise.
func (broker *fauxka) ask(t *testing.T, path string, body string, answer any) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	request, _ := http.NewRequest(method, broker.admin+path, strings.NewReader(body))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil || response.StatusCode >= 300 {
		t.Fatal(fmt.Errorf("%s %s: %s %v", method, path, response.Status, err))
	}
}
