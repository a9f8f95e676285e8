package orders

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const (
	startMax  = 30 * time.Second
	answerMax = 30 * time.Second
)

// fauxka is a broker in its own process, on free ports, and its admin API.
type fauxka struct {
	Bootstrap string
	Admin     string
}

// startFauxka starts a broker with options of `fauxka serve` that stops with the test; `fauxka` must be on the PATH.
func startFauxka(t *testing.T, options ...string) *fauxka {
	t.Helper()
	readyFile := filepath.Join(t.TempDir(), "ready.json")
	var log bytes.Buffer
	options = append([]string{"serve", "--port", "0", "--admin-port", "0", "--ready-file", readyFile}, options...)
	command := exec.Command("fauxka", options...)
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(startMax):
			_ = command.Process.Kill()
			<-ended
		}
	})
	// The ready file is created, complete, when clients can connect.
	for deadline := time.Now().Add(startMax); ; {
		if content, err := os.ReadFile(readyFile); err == nil {
			broker := &fauxka{}
			if err := json.Unmarshal(content, broker); err != nil {
				t.Fatal(err)
			}
			return broker
		}
		select {
		case <-ended:
			t.Fatalf("no broker: %s", &log)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("no broker after %s", startMax)
		}
	}
}

// ask calls the admin API: with GET without a body, with POST otherwise.
func (broker *fauxka) ask(t *testing.T, path string, body string, answer any) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	broker.call(t, method, path, body, answer)
}

// call calls the admin API. answer: what the body of the response is decoded into, or nil.
func (broker *fauxka) call(t *testing.T, method string, path string, body string, answer any) {
	t.Helper()
	request, err := http.NewRequest(method, "http://"+broker.Admin+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: answerMax}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, response.StatusCode, content)
	}
	if answer != nil {
		if err := json.Unmarshal(content, answer); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", content, err))
		}
	}
}
