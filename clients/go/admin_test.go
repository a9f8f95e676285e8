package fauxka_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"fauxka"
)

func TestBrokerAcceptsEveryFaultAndOption(t *testing.T) {
	broker, _ := oneNode(t)
	faults := []fauxka.Fault{
		fauxka.LostAck(), fauxka.LostRequest(), fauxka.ClosedConnection(), fauxka.Held(), fauxka.SlowAnswers(time.Second),
		fauxka.SlowRequests(time.Second), fauxka.Refuse("NOT_LEADER_OR_FOLLOWER"), fauxka.FalseError("REQUEST_TIMED_OUT"),
		fauxka.FalseSuccess(), fauxka.CrashAfterAppend(), fauxka.CrashBeforeAppend(), fauxka.DeliveredTwice(), fauxka.Observed(),
		fauxka.At(fauxka.Accepted, fauxka.Reset()), fauxka.At(fauxka.Received, fauxka.Drop()),
		fauxka.At(fauxka.Received, fauxka.Hang(), fauxka.ReleaseOrder()), fauxka.At(fauxka.Answering, fauxka.Truncate(10)),
		fauxka.At(fauxka.Answering, fauxka.Corrupt(8, 1)), fauxka.At(fauxka.Answering, fauxka.Drip(10, time.Second)),
		fauxka.At(fauxka.Applied, fauxka.Throttle(time.Second), fauxka.API("Produce")), fauxka.At(fauxka.Received, fauxka.Crash()),
		fauxka.At(fauxka.Received, fauxka.Observe(), fauxka.API("Heartbeat", "LeaveGroup"), fauxka.GroupID("readers", "others")),
		fauxka.At(fauxka.Received, fauxka.Error("UNKNOWN_SERVER_ERROR"), fauxka.API("Produce"), fauxka.ErrorScope("topic")),
	}
	options := []fauxka.Option{
		fauxka.Times(2), fauxka.NoLimit(), fauxka.Skip(1), fauxka.Every(2), fauxka.Probability(0.5), fauxka.Seed(17),
		fauxka.After(time.Second), fauxka.Until(time.Minute), fauxka.Name("a name"), fauxka.APIVersion(9, 10), fauxka.Node(1),
		fauxka.APIVersion(fauxka.Range{From: 3, To: 9}), fauxka.Listener("PLAINTEXT"), fauxka.Connection(1), fauxka.Mechanism("PLAIN"),
		fauxka.Principal("User:alice"), fauxka.ClientID(fauxka.Regex("orders-.*")), fauxka.TransactionalID("transfers"),
		fauxka.Topic(topic, "payments"), fauxka.Partition(0), fauxka.ProducerID(int64(7)),
		fauxka.ProducerEpoch(0), fauxka.BaseSequence(fauxka.Range{From: 0, To: 5}), fauxka.RecordCount(1),
		fauxka.Key("order-1"), fauxka.Key(fauxka.Bytes{0xff}), fauxka.Header("event-id", "1"),
	}

	for _, fault := range faults {
		must(broker.Faults.Add(fault))
	}
	for _, option := range options {
		must(broker.Faults.Add(fauxka.At(fauxka.Received, fauxka.Observe(), fauxka.API("Produce")), option))
	}

	check(t, broker.Faults.Clear())
}

func TestHandleOfARule(t *testing.T) {
	broker, bootstrap := oneNode(t)
	rule := must(broker.Faults.Add(fauxka.Observed(), fauxka.API("Fetch"), fauxka.Name("fetches")))
	send(t, newProducer(t, bootstrap), 1)

	timedOut := rule.AwaitHits(1, time.Millisecond)
	check(t, rule.Remove())
	refused := rule.Remove()

	var timeout *fauxka.WaitTimeoutError
	if !errors.As(timedOut, &timeout) || timeout.Hits != 0 || !strings.Contains(timeout.Error(), ", not Fetch") {
		t.Errorf("%v", timedOut)
	}
	var call *fauxka.CallError
	if !errors.As(timedOut, &call) || call.Status != 408 {
		t.Errorf("%v", timedOut)
	}
	if !errors.As(refused, &call) || call.Status != 404 || call.Field != "id" || rule.Name != "fetches" {
		t.Errorf("%v", refused)
	}
}

func TestTokenIsSentAndAnotherServerIsNamedAsSuch(t *testing.T) {
	var token string
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		token = request.Header.Get("Authorization")
		http.NotFound(response, request)
	}))
	broker := fauxka.New(server.URL)
	broker.Token = "secret"

	ofAnother := broker.Reset("all")
	server.Close()
	ofNone := broker.Reset("all")

	var call *fauxka.CallError
	if token != "Bearer secret" || errors.As(ofAnother, &call) || !strings.Contains(ofAnother.Error(), "not the admin API") {
		t.Errorf("%q, %v", token, ofAnother)
	}
	if errors.As(ofNone, &call) || !strings.Contains(ofNone.Error(), "no response") {
		t.Errorf("%v", ofNone)
	}
}

func TestHeldRequestIsReleased(t *testing.T) {
	broker, bootstrap := oneNode(t)
	rule := must(broker.Faults.Add(fauxka.Held(), fauxka.Topic(topic)))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		send(t, newProducer(t, bootstrap), 1)
	}()
	check(t, rule.AwaitHits(1, waitMax))

	held := must(broker.Held.List())
	check(t, broker.Held.Release(held[0].ID))
	<-sent

	if len(held) != 1 || held[0].API != "Produce" || held[0].Point != fauxka.Received || held[0].Topics[0] != topic {
		t.Errorf("%+v", held)
	}
}

func TestTopicsAndRecordsInTextAndBytes(t *testing.T) {
	broker, _ := oneNode(t)
	check(t, broker.Topics.Create(topic, 2, map[string]string{"retention.ms": "60000"}))
	headers := []fauxka.RecordHeader{{Name: "trace", Value: nil}}

	check(t, broker.Topics.Seed(topic,
		fauxka.SeedRecord{Key: fauxka.Bytes("order-1"), Value: fauxka.Bytes{0, 0xff}, Headers: headers, Partition: new(1)},
		fauxka.SeedRecord{Value: fauxka.Bytes(""), Partition: new(0), Timestamp: new(int64(17))}))
	records := must(broker.Records(topic))
	created := must(broker.Topics.Get(topic))
	listed := must(broker.Topics.List())
	check(t, broker.Topics.Delete(topic))

	first, second := records[0], records[1]
	if first.Key != nil || first.Value == nil || len(first.Value) != 0 || first.Timestamp != 17 || first.ProducerID != -1 {
		t.Errorf("%+v", first)
	}
	if string(second.Key) != "order-1" || string(second.Value) != "\x00\xff" || second.Headers[0].Value != nil {
		t.Errorf("%+v", second)
	}
	if created.Configs["retention.ms"] != "60000" || len(created.Partitions) != 2 || *created.Partitions[1].LogEndOffset != 1 {
		t.Errorf("%+v", created)
	}
	if len(listed) != 1 || len(must(broker.Topics.List())) != 0 {
		t.Errorf("%+v", listed)
	}
}

func TestListIsReadToItsLastPage(t *testing.T) {
	broker, _ := oneNode(t)
	check(t, broker.Topics.Create(topic, 1, nil))
	// A page of the API ends after 1 MiB of values.
	large := fauxka.SeedRecord{Value: fauxka.Bytes(strings.Repeat("x", 600_000))}
	for range 3 {
		check(t, broker.Topics.Seed(topic, large))
	}

	records := must(broker.Records(topic))

	if len(records) != 3 || records[2].Offset != 2 || len(records[2].Value) != 600_000 {
		t.Errorf("%d records", len(records))
	}
}

func TestJournalHasTheRequestsThatFulfilAllConditions(t *testing.T) {
	broker, bootstrap := oneNode(t)
	must(broker.Faults.Add(fauxka.Refuse("NOT_LEADER_OR_FOLLOWER"), fauxka.API("Produce")))
	send(t, newProducer(t, bootstrap), 1)

	entries := must(broker.Journal.Entries(fauxka.API("Produce"), fauxka.Topic(topic)))
	count := must(broker.Journal.Count(fauxka.API("Produce"), fauxka.Topic(fauxka.Regex("ord.*"))))
	none := must(broker.Journal.Count(fauxka.Topic("payments")))
	check(t, broker.Journal.Clear())

	if len(entries) != 2 || count != 2 || none != 0 || must(broker.Journal.Count(fauxka.API("Produce"))) != 0 {
		t.Fatalf("%+v, %d, %d", entries, count, none)
	}
	refused, appended := entries[0].Batches[0], entries[1].Batches[0]
	if refused.Decision != "not_applied" || refused.Error != "NOT_LEADER_OR_FOLLOWER" || entries[0].Rule == nil {
		t.Errorf("%+v", entries[0])
	}
	if appended.Decision != "appended" || appended.Error != "" || entries[1].Answer != "written" || entries[1].Rule != nil {
		t.Errorf("%+v", entries[1])
	}
}

func TestClockIsStoppedAndAdvanced(t *testing.T) {
	broker, _ := oneNode(t)
	check(t, broker.Clock.SetMode("manual"))
	before := must(broker.Clock.Now())

	check(t, broker.Clock.Advance(time.Hour))

	if passed := must(broker.Clock.Now()).Sub(before); passed != time.Hour {
		t.Errorf("%s", passed)
	}
}

func TestProducersAreForgottenFencedAndEvicted(t *testing.T) {
	broker, bootstrap := oneNode(t)
	send(t, newProducer(t, bootstrap), 1)
	id := must(broker.Producers.List())[0].ProducerID

	check(t, broker.Producers.EvictCache(id))
	check(t, broker.Producers.BumpEpoch(id, fauxka.Topic(topic), fauxka.Partition(0)))
	fenced := must(broker.Producers.List())[0]
	check(t, broker.Producers.Forget(id))

	if fenced.ProducerEpoch != 1 || len(must(broker.Producers.List())) != 0 {
		t.Errorf("%+v", fenced)
	}
}

func TestGroupHasItsMembersAndOffsets(t *testing.T) {
	broker, bootstrap := oneNode(t)
	send(t, newProducer(t, bootstrap), 1)
	consumer := must(kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup("readers"), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit()))
	defer consumer.Close()
	ctx, cancel := context.WithTimeout(t.Context(), waitMax)
	defer cancel()
	fetched := consumer.PollFetches(ctx)
	check(t, errors.Join(fetched.Err(), consumer.CommitUncommittedOffsets(ctx)))

	group := must(broker.Groups.Get("readers"))

	if len(must(broker.Groups.List())) != 1 || group.State != "Stable" || fmt.Sprint(group.Members[0].Partitions[topic]) != "[0]" {
		t.Errorf("%+v", group)
	}
	if len(group.Offsets) != 1 || group.Offsets[0].Offset != 1 || *group.Offsets[0].Lag != 0 {
		t.Errorf("%+v", group)
	}
}

func TestSnapshotIsRestored(t *testing.T) {
	broker, _ := oneNode(t)
	snapshot := must(broker.Snapshot())
	check(t, broker.Topics.Create(topic, 1, nil))

	check(t, broker.Restore(snapshot))

	if topics := must(broker.Topics.List()); len(topics) != 0 {
		t.Errorf("%+v", topics)
	}
}

func TestNodesAreStoppedCrashedAndCutOff(t *testing.T) {
	broker, bootstrap := threeNodes(t)
	check(t, broker.Nodes.Stop(3))
	check(t, broker.Nodes.Crash(2))
	check(t, broker.Nodes.Isolate(1, "controller", "nodes"))

	down := must(broker.Nodes.List())
	check(t, broker.Nodes.Start(3))
	check(t, broker.Nodes.Restart(2, "drop"))
	check(t, broker.Nodes.Rejoin(1))
	up := must(broker.Nodes.List())

	if down[2].State != "stopped" || down[1].State != "crashed" || fmt.Sprint(down[0].IsolatedFrom) != "[controller nodes]" {
		t.Errorf("%+v", down)
	}
	for _, node := range up {
		if node.State != "running" || len(node.IsolatedFrom) != 0 || !strings.Contains(bootstrap, node.Bootstrap) {
			t.Errorf("%+v", node)
		}
	}
}
