package fauxka

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Condition is a condition on requests, of a rule or of the journal. Of several values any one must match.
type Condition struct{ setting }

func condition[T any](field string, values []T) Condition {
	if len(values) == 1 {
		return Condition{setting{"match", field, values[0]}}
	}
	return Condition{setting{"match", field, values}}
}

// Regex is a regular expression of RE2 for a whole text.
type Regex string

// MarshalJSON returns the expression as the API reads it.
func (r Regex) MarshalJSON() ([]byte, error) { return json.Marshal(fields{"regex": string(r)}) }

// Range is the integers from From to To, both included.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Integer is a number or a range.
type Integer interface{ int | int32 | int64 | Range }

// The conditions on the request, its client and its connection. API is Kafka's name, such as "Produce".
func API(names ...string) Condition                     { return condition("api", names) }
func APIVersion[T Integer](values ...T) Condition       { return condition("api_version", values) }
func Node[T Integer](values ...T) Condition             { return condition("node", values) }
func Listener[T string | Regex](values ...T) Condition  { return condition("listener", values) }
func Connection[T Integer](values ...T) Condition       { return condition("connection", values) }
func ClientID[T string | Regex](values ...T) Condition  { return condition("client_id", values) }
func Mechanism(names ...string) Condition               { return condition("mechanism", names) }
func Principal[T string | Regex](values ...T) Condition { return condition("principal", values) }
func TransactionalID[T string | Regex](values ...T) Condition {
	return condition("transactional_id", values)
}
func GroupID[T string | Regex](values ...T) Condition { return condition("group_id", values) }

// The conditions that must hold together for one batch of the request. Key and Header are of any record of it, and not for
// the journal.
func Topic[T string | Regex](values ...T) Condition  { return condition("topic", values) }
func Partition[T Integer](values ...T) Condition     { return condition("partition", values) }
func ProducerID[T Integer](values ...T) Condition    { return condition("producer_id", values) }
func ProducerEpoch[T Integer](values ...T) Condition { return condition("producer_epoch", values) }
func BaseSequence[T Integer](values ...T) Condition  { return condition("base_sequence", values) }
func RecordCount[T Integer](values ...T) Condition   { return condition("record_count", values) }
func Key[T string | Bytes](values ...T) Condition    { return condition("key", values) }
func Header[T string | Bytes](name string, value T) Condition {
	return condition("header", []fields{{"name": name, "value": value}})
}

// Point is where a rule acts on a request or a connection.
type Point string

// The points, in their order.
const (
	Accepted  Point = "accepted"
	Received  Point = "received"
	Applied   Point = "applied"
	Answering Point = "answering"
)

// Action is what a rule does. docs/faults.md has the effect of each on clients, and the points where it is allowed.
type Action fields

// The actions. A node that crashes stays down; CrashAndRestart starts it again after a time on the broker's clock.
func Observe() Action               { return Action{"kind": "observe"} }
func Error(name string) Action      { return Action{"kind": "error", "error": name} }
func Drop() Action                  { return Action{"kind": "drop"} }
func Delay(by time.Duration) Action { return Action{"kind": "delay", "ms": by.Milliseconds()} }
func Hang() Action                  { return Action{"kind": "hang"} }
func Hold() Action                  { return Action{"kind": "hold"} }
func Close() Action                 { return Action{"kind": "close"} }
func Reset() Action                 { return Action{"kind": "reset"} }
func Truncate(bytes int) Action     { return Action{"kind": "truncate", "bytes": bytes} }
func Corrupt(at, bytes int) Action  { return Action{"kind": "corrupt", "at": at, "bytes": bytes} }
func Drip(bytes int, every time.Duration) Action {
	return Action{"kind": "drip", "bytes": bytes, "every_ms": every.Milliseconds()}
}
func Throttle(by time.Duration) Action { return Action{"kind": "throttle", "ms": by.Milliseconds()} }
func DeliverTwice() Action             { return Action{"kind": "deliver_twice"} }
func Crash() Action                    { return Action{"kind": "crash"} }
func CrashAndRestart(after time.Duration) Action {
	return Action{"kind": "crash", "restart_after_ms": after.Milliseconds()}
}

// Option is a Condition on the requests of a rule, or one of the functions below.
type Option interface{ change(rule parts) }

// parts is a rule by its parts: match, when, action, and "" for the fields of the rule itself.
type parts map[string]fields

// setting is a field of a part of a rule.
type setting struct {
	part, field string
	value       any
}

func (s setting) change(rule parts) { rule[s.part][s.field] = s.value }

// Which of the matching requests are hit. Times is the number of hits, 1 without an option. Skip is the number of requests
// before the first hit, and Every(n) hits each n-th from there. Probability is from 0 to 1, drawn with Seed. After and Until
// are a window on the broker's clock since the rule was added.
func Times(count int) Option                 { return setting{"when", "times", count} }
func NoLimit() Option                        { return setting{"when", "times", nil} }
func Skip(count int) Option                  { return setting{"when", "skip", count} }
func Every(count int) Option                 { return setting{"when", "every", count} }
func Probability(probability float64) Option { return setting{"when", "probability", probability} }
func Seed(seed int64) Option                 { return setting{"when", "seed", seed} }
func After(start time.Duration) Option       { return setting{"when", "after_ms", start.Milliseconds()} }
func Until(end time.Duration) Option         { return setting{"when", "until_ms", end.Milliseconds()} }

// Name names a rule for lists and errors. ReleaseOrder lets later responses of the connection overtake that of a delayed, held
// or hanging request. ErrorScope is what an error is for, by default what the conditions name: partition, topic or request.
func Name(name string) Option        { return setting{"", "name", name} }
func ReleaseOrder() Option           { return setting{"action", "release_order", true} }
func ErrorScope(scope string) Option { return setting{"action", "scope", scope} }

// Fault is a recipe: what makes up a rule, before the options of Faults.Add.
type Fault []Option

// At returns any action at any point as a fault.
func At(point Point, action Action, options ...Option) Fault {
	fault := append(Fault{setting{"", "point", point}}, options...)
	for field, value := range action {
		fault = append(fault, setting{"action", field, value})
	}
	return fault
}

func ofProduce(name string, point Point, action Action) Fault {
	return At(point, action, Name(name), API("Produce"))
}

// The losses. LostAck applies a Produce request and closes the connection instead of responding. LostRequest drops a Produce
// request: it is neither applied nor answered. ClosedConnection closes the connection instead of handling any request.
func LostAck() Fault          { return ofProduce("lost ack", Applied, Close()) }
func LostRequest() Fault      { return ofProduce("lost request", Received, Drop()) }
func ClosedConnection() Fault { return At(Received, Close(), Name("closed connection")) }

// The delays. Held holds a Produce request before it is applied, until Broker.Held releases it. SlowAnswers applies any request
// at once and responds later. SlowRequests applies it later: later requests of the connection are applied before it.
func Held() Fault                         { return ofProduce("held", Received, Hold()) }
func SlowAnswers(by time.Duration) Fault  { return At(Applied, Delay(by), Name("slow answers")) }
func SlowRequests(by time.Duration) Fault { return At(Received, Delay(by), Name("slow requests")) }

// The errors, by Kafka's names. Refuse responds to any request with an error and does not apply it. FalseError responds to a
// Produce request with an error and applies it. FalseSuccess responds with success and does not apply it: records are lost.
func Refuse(name string) Fault     { return At(Received, Error(name), Name("refuse "+name)) }
func FalseError(name string) Fault { return ofProduce("false "+name, Applied, Error(name)) }
func FalseSuccess() Fault          { return ofProduce("false success", Received, Error("NONE")) }

// The crashes, after or before a Produce request is applied. The node starts again at once.
func CrashAfterAppend() Fault  { return ofProduce("crash after append", Applied, CrashAndRestart(0)) }
func CrashBeforeAppend() Fault { return ofProduce("crash before append", Received, CrashAndRestart(0)) }

// DeliveredTwice applies a Produce request twice. Observed counts all requests, so that a test can wait for them.
func DeliveredTwice() Fault { return ofProduce("delivered twice", Received, DeliverTwice()) }
func Observed() Fault       { return At(Received, Observe(), Name("observed"), NoLimit()) }

// Faults is the fault rules for requests and connections.
type Faults struct{ broker *Broker }

// Add adds a rule after the others. The first that hits ends the search. It hits once, unless an option differs.
func (f Faults) Add(fault Fault, options ...Option) (*Rule, error) {
	rule := parts{"match": {}, "when": {}, "action": {}, "": {}}
	for _, each := range append(slices.Clip(fault), options...) {
		each.change(rule)
	}
	body := rule[""]
	body["match"], body["when"], body["action"] = rule["match"], rule["when"], rule["action"]
	handle := &Rule{broker: f.broker}
	return handle, f.broker.Call("POST", "/v1/rules", body, handle)
}

// Clear removes all rules. Held and hanging requests stay so until a release or a reset.
func (f Faults) Clear() error { return f.broker.remove("/v1/rules") }

// Rule is the handle of a rule in force.
type Rule struct {
	ID     int64
	Name   string
	broker *Broker
}

// Hits returns the number of requests that the rule has acted on.
func (r *Rule) Hits() (int, error) {
	counted, err := get[struct{ Hits int }](r.broker, r.path())
	return counted.Hits, err
}

// AwaitHits waits for at least count hits. After timeout, in real time, it returns a *WaitTimeoutError.
func (r *Rule) AwaitHits(count int, timeout time.Duration) error {
	path := fmt.Sprintf("%s/await?hits=%d&timeout_ms=%d", r.path(), count, timeout.Milliseconds())
	return r.broker.Call("GET", path, nil, nil)
}

// Remove removes the rule.
func (r *Rule) Remove() error { return r.broker.remove(r.path()) }

func (r *Rule) path() string { return fmt.Sprintf("/v1/rules/%d", r.ID) }

// HeldRequests is the requests that rules hold.
type HeldRequests struct{ broker *Broker }

// HeldRequest is a held request. Point is received, before it is applied, or applied, before its response.
type HeldRequest struct {
	ID, Rule int64
	Point    Point
	API      string
	Topics   []string
}

// List returns the held requests, oldest first.
func (h HeldRequests) List() ([]HeldRequest, error) {
	return list[HeldRequest](h.broker, "/v1/held", "")
}

// Release releases requests in this order; none of them if one is not held.
func (h HeldRequests) Release(ids ...int64) error {
	return h.broker.post("/v1/held/release", fields{"ids": ids})
}
