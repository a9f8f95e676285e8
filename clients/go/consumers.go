package fauxka

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// GroupPartition is what a group got of a partition. Processed is by the reports of the application, if ProcessedFrom is
// "reports"; else it is what was delivered and committed. Committed and Lag are nil if they are not known.
type GroupPartition struct {
	Topic                           string
	Partition, Delivered, Processed int
	ProcessedFrom                   string `json:"processed_from"`
	Committed, Lag                  *int64
}

// GroupFinding is offsets that a group got twice, never or out of order, or a commit that leads to that. Offsets are the first
// and the last. Requests are ids in the journal. Why is the reason as a sentence.
type GroupFinding struct {
	Kind, Cause, Topic, Why, Member string
	Partition, Count                int
	Offsets                         []int64
	Keys                            []string
	Requests                        []int64 `json:"request_ids"`
}

// String returns the finding as one line.
func (f GroupFinding) String() string {
	return fmt.Sprintf("%s: %s-%d, offsets %v: %s", strings.ReplaceAll(f.Kind, "_", " "), f.Topic, f.Partition, f.Offsets, f.Why)
}

// GroupVerdict is the verdict on a consumer group. ReportsLeftOut counts reports of the application that were too many to keep.
type GroupVerdict struct {
	Group           string
	Partitions      []GroupPartition
	Findings        []GroupFinding
	Notes           []string
	FindingsLeftOut int `json:"findings_left_out"`
	ReportsLeftOut  int `json:"reports_left_out"`
}

// GroupVerdict returns the verdict on a consumer group.
func (b *Broker) GroupVerdict(group string) (*GroupVerdict, error) {
	return get[*GroupVerdict](b, "/v1/verdict?group="+url.QueryEscape(group))
}

// Lag returns the sum of the lags of all partitions.
func (v *GroupVerdict) Lag() (lag int64) {
	for _, each := range v.Partitions {
		if each.Lag != nil {
			lag += *each.Lag
		}
	}
	return lag
}

// AssertDeliveredOnce fails the test if a record was sent to the group twice, or nothing was.
func (v *GroupVerdict) AssertDeliveredOnce(t testing.TB) {
	t.Helper()
	v.assertDelivered(t, "every record delivered once", "delivered_twice", "hanging")
}

// AssertNothingSkipped fails the test if the group has passed over a record, or got nothing.
func (v *GroupVerdict) AssertNothingSkipped(t testing.TB) {
	t.Helper()
	v.assertDelivered(t, "nothing skipped", "never_delivered", "archived")
}

// AssertProcessedOnce fails the test unless the application has reported every record once, up to where it or the group is.
func (v *GroupVerdict) AssertProcessedOnce(t testing.TB) {
	t.Helper()
	if !slices.ContainsFunc(v.Partitions, func(each GroupPartition) bool { return each.ProcessedFrom == "reports" }) {
		t.Fatal(fmt.Sprintf("no application has reported what group %q processed", v.Group))
	}
	v.assertNone(t, "every record processed once", "processed_twice", "committed_unprocessed", "never_processed", "never_delivered")
	if v.ReportsLeftOut > 0 {
		t.Fatal(fmt.Sprintf("group %s: %d reports were too many to keep", v.Group, v.ReportsLeftOut))
	}
}

// AssertLag fails the test if more records than most are not committed yet.
func (v *GroupVerdict) AssertLag(t testing.TB, most int64) {
	t.Helper()
	if lag := v.Lag(); lag > most {
		t.Fatal(fmt.Sprintf("group %s: expected a lag of at most %d, found %d", v.Group, most, lag))
	}
}

func (v *GroupVerdict) assertDelivered(t testing.TB, wanted string, kinds ...string) {
	t.Helper()
	v.assertNone(t, wanted, kinds...)
	if !slices.ContainsFunc(v.Partitions, func(each GroupPartition) bool { return each.Delivered > 0 }) {
		t.Fatal(fmt.Sprintf("nothing was delivered to group %q, so there is nothing to judge", v.Group))
	}
}

func (v *GroupVerdict) assertNone(t testing.TB, wanted string, kinds ...string) {
	t.Helper()
	found := []string{}
	for _, each := range v.Findings {
		if slices.Contains(kinds, each.Kind) {
			found = append(found, each.String())
		}
	}
	if len(found) > 0 || v.FindingsLeftOut > 0 {
		t.Fatal(failure(fmt.Sprintf("group %s: expected %s, found", v.Group, wanted), found, v.Notes))
	}
}

// Flow is what an application makes of a topic in another. EventID is "value", "key", "header:NAME" or "json:PATH". Group is the
// one that reads From, for the reasons; it is needed only if several groups do.
type Flow struct{ From, To, EventID, Group string }

// FlowPlace is a record of one of the two topics.
type FlowPlace struct {
	Partition int
	Offset    int64
}

// FlowFinding is events to which the same happened for the same reason. Kind is lost, doubled, out_of_order or unexpected. Count
// is the number of events, of which Events has the first. Why is the reason as a sentence.
type FlowFinding struct {
	Kind, Cause, Why string
	Count            int
	Events           []struct {
		Event         string
		Input, Output []FlowPlace
	}
	Requests []int64 `json:"request_ids"`
}

// String returns the finding as one line.
func (f FlowFinding) String() string {
	names := make([]string, len(f.Events))
	for index, each := range f.Events {
		names[index] = each.Event
	}
	return fmt.Sprintf("%s: %d events, such as %s: %s", strings.ReplaceAll(f.Kind, "_", " "), f.Count,
		strings.Join(names[:min(len(names), findingsShown)], ", "), f.Why)
}

// FlowVerdict is the verdict on what an application makes of FromTopic in ToTopic. Unjudged are kinds of findings that cannot
// be told, for the reasons in Notes.
type FlowVerdict struct {
	FromTopic string `json:"from_topic"`
	ToTopic   string `json:"to_topic"`
	Group     string
	Events    struct {
		Input, Output, Once, Lost, Doubled, Unexpected int
		OutOfOrder                                     int `json:"out_of_order"`
	}
	Findings        []FlowFinding
	Unjudged, Notes []string
}

// FlowVerdict returns the verdict on what an application makes of a topic in another.
func (b *Broker) FlowVerdict(flow Flow) (*FlowVerdict, error) {
	query := url.Values{"from": {flow.From}, "to": {flow.To}, "event_id": {flow.EventID}}
	if flow.Group != "" {
		query.Set("group", flow.Group)
	}
	return get[*FlowVerdict](b, "/v1/verdict?"+query.Encode())
}

// AssertExactlyOnce fails the test unless the output has every event of the input, none more often than the input, and no others.
// It fails too if the input has no events, or if it cannot be told.
func (v *FlowVerdict) AssertExactlyOnce(t testing.TB) {
	t.Helper()
	v.assertNone(t, "exactly once", "lost", "doubled", "unexpected")
}

// AssertNothingLost fails the test unless the output has every event of the input.
func (v *FlowVerdict) AssertNothingLost(t testing.TB) {
	t.Helper()
	v.assertNone(t, "nothing lost", "lost")
}

// AssertNoDuplicates fails the test if the output has an event more often than the input.
func (v *FlowVerdict) AssertNoDuplicates(t testing.TB) {
	t.Helper()
	v.assertNone(t, "no duplicates", "doubled")
}

// AssertInOrder fails the test unless each output partition has the events of an input partition in their order.
func (v *FlowVerdict) AssertInOrder(t testing.TB) {
	t.Helper()
	v.assertNone(t, "the order of the input", "out_of_order")
}

func (v *FlowVerdict) assertNone(t testing.TB, wanted string, kinds ...string) {
	t.Helper()
	found, flow := []string{}, v.FromTopic+" to "+v.ToTopic
	for _, each := range v.Findings {
		if slices.Contains(kinds, each.Kind) {
			found = append(found, each.String())
		}
	}
	switch {
	case len(found) > 0:
		t.Fatal(failure(fmt.Sprintf("%s: expected %s, found", flow, wanted), found, v.Notes))
	case v.Events.Input == 0:
		t.Fatal(failure(v.FromTopic+" has no events, so there is nothing to judge", nil, v.Notes))
	case slices.ContainsFunc(v.Unjudged, func(kind string) bool { return slices.Contains(kinds, kind) }):
		t.Fatal(failure(fmt.Sprintf("%s: cannot tell whether it is %s", flow, wanted), nil, v.Notes))
	}
}

// failure returns the text of a failed assertion.
func failure(head string, findings, notes []string) string {
	return strings.Join(slices.Concat([]string{head}, findings[:min(len(findings), findingsShown)], notes), "\n    ")
}

// Processed reports records as processed by the application of a group. What is reported twice was processed twice.
func (b *Broker) Processed(group, topic string, partition int, offsets ...int64) error {
	return b.post("/v1/processed", fields{"group": group, "topic": topic, "partition": partition, "offset": offsets})
}

// ProcessedEvents reports records by their event ids, such as "A-17" with the eventID "header:id".
func (b *Broker) ProcessedEvents(group, topic, eventID string, events ...string) error {
	return b.post("/v1/processed", fields{"group": group, "topic": topic, "event_id": eventID, "event": events})
}
