package fauxka

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// The findings in the text of a failed assertion: the first ones show the cause, and the verdict has the others.
const findingsShown = 5

// BatchCounts counts batches. docs/admin-api.md has the meaning of each count.
type BatchCounts struct {
	AppendedOnce         int `json:"appended_once"`
	AppendedTwice        int `json:"appended_twice"`
	Refused, Reordered   int
	DuplicatesRecognised int `json:"duplicates_recognised"`
	AcknowledgedLost     int `json:"acknowledged_lost"`
	StoredUnacknowledged int `json:"stored_unacknowledged"`
}

// Verdict is the verdict on a topic. Forgotten counts unacknowledged batches
// that were too many to keep: copies of those are not found.
type Verdict struct {
	Topic   string
	Batches BatchCounts
	Records struct {
		InLog                         int `json:"in_log"`
		Distinct, Duplicates, Deleted int
	}
	Findings        []Finding
	FindingsLeftOut int `json:"findings_left_out"`
	Forgotten       int
}

// Finding is batches that are not stored exactly once, a transaction that hangs, deleted records, or a producer from before
// the last reset. Offsets are empty if no batch was in the log. Requests are the ids of its requests in the journal. Rule is
// that of the fault that caused it. LeaderEpoch is that of batches that an election lost. Events are
// the event ids of lost records, their keys by default. Why is the reason as a sentence.
type Finding struct {
	Kind, Why                   string
	Partition, Batches, Records int
	Offsets, Requests           []int64
	Events                      []string
	Rule                        *int64
	LeaderEpoch                 *int  `json:"leader_epoch"`
	ProducerID                  int64 `json:"producer_id"`
	ProducerEpoch               int   `json:"producer_epoch"`
	BaseSequence                int   `json:"base_sequence"`
}

// String returns the finding as one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: partition %d, offsets %v, producer %d epoch %d, sequences from %d: %s",
		strings.ReplaceAll(f.Kind, "_", " "), f.Partition, f.Offsets, f.ProducerID, f.ProducerEpoch, f.BaseSequence, f.Why)
}

// Verdict returns the verdict on a topic.
func (b *Broker) Verdict(topic string) (*Verdict, error) {
	return get[*Verdict](b, "/v1/verdict?topic="+url.QueryEscape(topic))
}

// VerdictByEventID also finds events that were sent again as new records. eventID is "value", "key",
// "header:NAME" or "json:PATH".
func (b *Broker) VerdictByEventID(topic, eventID string) (*Verdict, error) {
	return get[*Verdict](b, "/v1/verdict?topic="+url.QueryEscape(topic)+"&event_id="+url.QueryEscape(eventID))
}

// AssertExactlyOnce fails the test unless every acknowledged record is in the log, none twice, and no transaction hangs. It
// fails for a topic to which nothing was produced, too; test data is not. Records that were never acknowledged, or that
// retention deleted, are no failure.
func (v *Verdict) AssertExactlyOnce(t testing.TB) {
	t.Helper()
	lost, twice, hanging := v.Batches.AcknowledgedLost, v.Records.Duplicates, 0
	shown := []string{}
	for _, each := range v.Findings {
		switch each.Kind {
		case "hanging_transaction":
			hanging++
			fallthrough
		case "acknowledged_lost", "appended_twice":
			shown = append(shown, "\n    "+each.String())
		}
	}
	switch {
	case v.Batches == (BatchCounts{}):
		t.Fatal(fmt.Sprintf("nothing was produced to %q, so there is nothing to judge", v.Topic))
	case lost+twice+hanging > 0:
		t.Fatal(fmt.Sprintf("%s: expected exactly once, found %d acknowledged batches lost, %d records in the log twice, "+
			"%d hanging transactions", v.Topic, lost, twice, hanging) + strings.Join(shown[:min(len(shown), findingsShown)], ""))
	case v.Forgotten > 0:
		t.Fatal(fmt.Sprintf("%s: copies of %d batches that were too many to keep would not be found", v.Topic, v.Forgotten))
	}
}

// Journal is the requests that the broker has received, without keys, values and headers.
type Journal struct{ broker *Broker }

// JournalBatch is a batch of a request and its result. Decision is appended, duplicate, refused or not_applied. Error is
// Kafka's name, "" without an error. Why is the reason as a sentence.
type JournalBatch struct {
	Topic                string
	Partition, Records   int
	Decision, Error, Why string
	ProducerID           int64 `json:"producer_id"`
	ProducerEpoch        int   `json:"producer_epoch"`
	BaseSequence         int   `json:"base_sequence"`
	BaseOffset           int64 `json:"base_offset"`
}

// JournalEntry is a request. Answer is the state of its response: written, waiting, not_owed or not_written. Error is Kafka's
// name, "" without an error. Rule is that of the last fault.
type JournalEntry struct {
	ID, Connection     int64
	Node               int
	AtMS               int64 `json:"at_ms"`
	API, Answer, Error string
	APIVersion         int    `json:"api_version"`
	ClientID           string `json:"client_id"`
	Topics             []string
	GroupIDs           []string `json:"group_ids"`
	TransactionalID    string   `json:"transactional_id"`
	Batches            []JournalBatch
	Rule               *int64
}

// Entries returns the requests that fulfil all conditions, oldest first.
func (j Journal) Entries(conditions ...Condition) ([]JournalEntry, error) {
	return list[JournalEntry](j.broker, "/v1/journal", matchParameter(conditions)+"&")
}

// Count returns the number of requests that fulfil all conditions.
func (j Journal) Count(conditions ...Condition) (int, error) {
	counted, err := get[struct{ Count int }](j.broker, "/v1/journal/count?"+matchParameter(conditions))
	return counted.Count, err
}

// Clear deletes all requests and resets the verdict.
func (j Journal) Clear() error { return j.broker.remove("/v1/journal") }

func matchParameter(conditions []Condition) string {
	// Conditions are texts and numbers, which always have a JSON.
	match, _ := json.Marshal(matchOf(conditions))
	return "match=" + url.QueryEscape(string(match))
}

func matchOf(conditions []Condition) fields {
	match := fields{}
	for _, each := range conditions {
		match[each.field] = each.value
	}
	return match
}
