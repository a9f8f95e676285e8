// Package fauxka is a client of the admin API of fauxka, a mock broker for Apache Kafka.
//
// The names are those of fauxka's Python package. A call that the broker refuses returns a *CallError, a wait that ends
// at its timeout a *WaitTimeoutError. Lists are read to their last page. Numbers that the broker does not have are -1,
// other missing values are nil. Times without a type of their own are in ms.
package fauxka

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Longer than the longest wait for the hits of a rule, which the API ends after 10 minutes.
const responseMax = 11 * time.Minute

// Broker is a broker in another process or container.
type Broker struct {
	Faults    Faults
	Held      HeldRequests
	Journal   Journal
	Clock     Clock
	Nodes     Nodes
	Topics    Topics
	Producers Producers
	Groups    Groups
	// Token is that of --admin-token, "" without one.
	Token string
	// Client sends the calls. Replace it for an API with HTTPS and a certificate of its own.
	Client *http.Client
	admin  string
}

// New returns a client of the API at admin, "http://host:port" or "host:port". It sends nothing.
func New(admin string) *Broker {
	if !strings.Contains(admin, "://") {
		admin = "http://" + admin
	}
	b := &Broker{admin: strings.TrimSuffix(admin, "/"), Client: &http.Client{Timeout: responseMax}}
	b.Faults, b.Held, b.Journal, b.Clock = Faults{b}, HeldRequests{b}, Journal{b}, Clock{b}
	b.Nodes, b.Topics, b.Producers, b.Groups = Nodes{b}, Topics{b}, Producers{b}, Groups{b}
	return b
}

// Reset resets the broker to its state after the start, or a part of it. scope is all, data, faults or journal.
func (b *Broker) Reset(scope string) error { return b.post("/v1/reset", fields{"scope": scope}) }

// Snapshot takes a snapshot of logs, producers, topics, configs and committed offsets, and returns its id.
func (b *Broker) Snapshot() (int64, error) {
	var taken struct{ ID int64 }
	err := b.Call("POST", "/v1/snapshot", nil, &taken)
	return taken.ID, err
}

// Restore restores a snapshot, any number of times. It closes connections and resets the verdict.
func (b *Broker) Restore(id int64) error { return b.post("/v1/restore", fields{"id": id}) }

// Call sends any call of the admin API. path may have a query. A body that is not nil is sent as JSON. The response is decoded
// into response, unless that is nil.
func (b *Broker) Call(method, path string, body, response any) error {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, b.admin+path, &content)
	if err != nil {
		return err
	}
	if b.Token != "" {
		request.Header.Set("Authorization", "Bearer "+b.Token)
	}
	answer, err := b.Client.Do(request)
	if err != nil {
		return fmt.Errorf("no response from the admin API of fauxka: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusMultipleChoices {
		return errorOf(answer)
	}
	if response == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(response)
}

type fields map[string]any

func (b *Broker) post(path string, body any) error { return b.Call("POST", path, body, nil) }

func (b *Broker) remove(path string) error { return b.Call("DELETE", path, nil, nil) }

// get returns the response of a call with GET.
func get[T any](b *Broker, path string) (response T, err error) {
	err = b.Call("GET", path, nil, &response)
	return response, err
}

// list returns the items of all pages of a list. parameters end with "&", if there are any.
func list[T any](b *Broker, path, parameters string) (items []T, err error) {
	for since := "limit=10000"; ; {
		page, err := get[page[T]](b, path+"?"+parameters+since)
		items = append(items, page.Items...)
		if err != nil || page.Next == nil {
			return items, err
		}
		since = "limit=10000&since=" + url.QueryEscape(*page.Next)
	}
}

type page[T any] struct {
	Items []T
	Next  *string
}

// CallError is a call that the broker refuses. Field is the path of the wrong field or parameter, "" without one.
type CallError struct {
	Status         int
	Field, Message string
}

// Error returns the message, which names what is wrong and what is allowed.
func (e *CallError) Error() string { return fmt.Sprintf("fauxka: %d: %s", e.Status, e.Message) }

// WaitTimeoutError is a wait that ended at its timeout with fewer hits. Its message has the nearest near misses.
type WaitTimeoutError struct {
	CallError
	Hits int
}

// Unwrap returns the *CallError, whose status is 408.
func (e *WaitTimeoutError) Unwrap() error { return &e.CallError }

func errorOf(answer *http.Response) error {
	var body struct {
		Error *CallError
		Hits  *int
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil || body.Error == nil {
		return fmt.Errorf("this is not the admin API of fauxka: it responded with status %s", answer.Status)
	}
	body.Error.Status = answer.StatusCode
	if body.Hits != nil {
		return &WaitTimeoutError{*body.Error, *body.Hits}
	}
	return body.Error
}
