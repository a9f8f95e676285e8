package fauxka

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// Bytes is a key or a value, nil for null.
type Bytes []byte

// MarshalJSON returns the bytes as the API reads them.
func (b Bytes) MarshalJSON() ([]byte, error) {
	if b == nil {
		return []byte("null"), nil
	}
	return json.Marshal(map[string][]byte{"base64": b})
}

// UnmarshalJSON reads a text, {"base64": ...} or null.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var encoded struct{ Base64 []byte }
	if json.Unmarshal(data, &encoded) == nil {
		*b = encoded.Base64
		return nil
	}
	var text string
	err := json.Unmarshal(data, &text)
	*b = Bytes(text)
	return err
}

// Topics is the topics of the broker.
type Topics struct{ broker *Broker }

// TopicInfo is a topic. Configs are those that were set for it. The end of a log is nil while all nodes with a replica are down.
type TopicInfo struct {
	Name       string
	TopicID    string `json:"topic_id"`
	Configs    map[string]string
	Partitions []struct {
		Partition, Leader int
		LogStartOffset    *int64 `json:"log_start_offset"`
		LogEndOffset      *int64 `json:"log_end_offset"`
	}
}

// RecordHeader is a header of a record.
type RecordHeader struct {
	Name  string `json:"name"`
	Value Bytes  `json:"value"`
}

// StoredRecord is a record of a log. IsControl is whether it is a transaction marker. Transaction is none, or the state of its
// transaction: open, committed or aborted. Sequence is that of this record.
type StoredRecord struct {
	Key, Value               Bytes
	Headers                  []RecordHeader
	Partition, Sequence      int
	Offset, Timestamp        int64
	ProducerID               int64 `json:"producer_id"`
	ProducerEpoch            int   `json:"producer_epoch"`
	IsControl                bool  `json:"is_control"`
	Transaction, Compression string
}

// SeedRecord is a record to append. Without Partition it is Kafka's partition of the key; without Timestamp it has the time
// of the broker's clock.
type SeedRecord struct {
	Key       Bytes          `json:"key"`
	Value     Bytes          `json:"value"`
	Headers   []RecordHeader `json:"headers,omitempty"`
	Partition *int           `json:"partition"`
	Timestamp *int64         `json:"timestamp"`
}

func pathOf(topic string) string { return "/v1/topics/" + url.PathEscape(topic) }

// List returns all topics, sorted by name.
func (t Topics) List() ([]TopicInfo, error) { return list[TopicInfo](t.broker, "/v1/topics", "") }

// Get returns a topic.
func (t Topics) Get(name string) (TopicInfo, error) { return get[TopicInfo](t.broker, pathOf(name)) }

// Create creates a topic, with Kafka's checks and messages.
func (t Topics) Create(name string, partitions int, configs map[string]string) error {
	body := fields{"name": name, "partitions": partitions, "configs": configs}
	if configs == nil {
		delete(body, "configs")
	}
	return t.broker.post("/v1/topics", body)
}

// Delete deletes a topic with its records.
func (t Topics) Delete(name string) error { return t.broker.remove(pathOf(name)) }

// Seed appends test data, all records or none. It is no Produce: no fault rule applies, and the journal has no entry.
func (t Topics) Seed(name string, records ...SeedRecord) error {
	return t.broker.post(pathOf(name)+"/records", fields{"records": records})
}

// Records returns the records in the logs of a topic, sorted by partition and offset: also transaction markers, and the
// records of open and aborted transactions.
func (b *Broker) Records(topic string) ([]StoredRecord, error) {
	return list[StoredRecord](b, pathOf(topic)+"/records", "")
}

// Clock is the clock of all timeouts and expirations of the broker.
type Clock struct{ broker *Broker }

// Now returns the time of the clock.
func (c Clock) Now() (time.Time, error) {
	clock, err := get[struct {
		NowMS int64 `json:"now_ms"`
	}](c.broker, "/v1/clock")
	return time.UnixMilli(clock.NowMS), err
}

// SetMode stops the clock ("manual"), or lets it run from its current time ("real").
func (c Clock) SetMode(mode string) error { return c.broker.post("/v1/clock", fields{"mode": mode}) }

// Advance advances the clock in either mode, and returns when all expired timers have run.
func (c Clock) Advance(by time.Duration) error {
	return c.broker.post("/v1/clock", fields{"advance_ms": by.Milliseconds()})
}

// Producers is the state of idempotent producers in the partitions. A change applies to all partitions, unless Topic and
// Partition choose one.
type Producers struct{ broker *Broker }

// ProducerInfo is the state of a producer in one partition. Cached are the batches that are recognised, oldest first.
type ProducerInfo struct {
	Topic         string
	Partition     int
	ProducerID    int64 `json:"producer_id"`
	ProducerEpoch int   `json:"producer_epoch"`
	NextSequence  int   `json:"next_sequence"`
	Cached        []struct {
		BaseSequence int   `json:"base_sequence"`
		BaseOffset   int64 `json:"base_offset"`
	}
}

// List returns the states sorted by topic, partition and id.
func (p Producers) List() ([]ProducerInfo, error) {
	return list[ProducerInfo](p.broker, "/v1/producers", "")
}

// Forget deletes the state of a producer, its open transaction included.
func (p Producers) Forget(id int64, in ...Condition) error { return p.change("forget", id, in) }

// Expire expires a producer, as after producer.id.expiration.ms.
func (p Producers) Expire(id int64, in ...Condition) error { return p.change("expire", id, in) }

// BumpEpoch fences a producer with the next epoch.
func (p Producers) BumpEpoch(id int64, in ...Condition) error { return p.change("bump_epoch", id, in) }

// EvictCache deletes the recognised batches of a producer; its next sequence stays.
func (p Producers) EvictCache(id int64, in ...Condition) error {
	return p.change("evict_cache", id, in)
}

func (p Producers) change(change string, id int64, in []Condition) error {
	return p.broker.post("/v1/producers/"+change, matchOf(append(in, ProducerID(id))))
}

// Groups is the groups of every type.
type Groups struct{ broker *Broker }

// GroupInfo is a group with its members, their partitions by topic, and its committed offsets. Type and State are Kafka's names.
type GroupInfo struct {
	GroupID               string `json:"group_id"`
	Type, State, Protocol string
	Members               []struct {
		MemberID   string `json:"member_id"`
		ClientID   string `json:"client_id"`
		Partitions map[string][]int
	}
	Offsets []struct {
		Topic     string
		Partition int
		Offset    int64
		Lag       *int64
	}
}

// List returns all groups, sorted by id.
func (g Groups) List() ([]GroupInfo, error) { return list[GroupInfo](g.broker, "/v1/groups", "") }

// Get returns a group.
func (g Groups) Get(groupID string) (GroupInfo, error) {
	return get[GroupInfo](g.broker, "/v1/groups/"+url.PathEscape(groupID))
}

// Nodes is the nodes of the broker. A broker with one node has node 1, unless node.id says otherwise.
type Nodes struct{ broker *Broker }

// NodeStatus is a node. State is running, stopped or crashed. Bootstrap is the address of its first listener.
type NodeStatus struct {
	Node, Leads, Connections int
	State, Bootstrap, Rack   string
	IsController             bool     `json:"is_controller"`
	IsolatedFrom             []string `json:"isolated_from"`
}

// PartitionState is a partition with its replicas by node id.
type PartitionState struct {
	Partition, Leader           int
	LeaderEpoch                 int `json:"leader_epoch"`
	Replicas, ISR, ELR, Offline []int
}

// List returns all nodes in the order of their ids.
func (n Nodes) List() ([]NodeStatus, error) {
	listed, err := get[page[NodeStatus]](n.broker, "/v1/nodes")
	return listed.Items, err
}

// Stop stops a node, as SIGTERM does: its leaders move first. Its logs are kept.
func (n Nodes) Stop(node int) error { return n.change(node, "stop", fields{"controlled": true}) }

// Kill stops a node, as SIGKILL does. Only if it is noticed, the controller does not wait for broker.session.timeout.ms.
func (n Nodes) Kill(node int, isNoticed bool) error {
	return n.change(node, "stop", fields{"controlled": false, "noticed": isNoticed})
}

// Start starts a node that is down, on the same ports with its logs, and returns when clients can connect.
func (n Nodes) Start(node int) error { return n.change(node, "start", nil) }

// Crash crashes a node, as SIGKILL does, until Restart.
func (n Nodes) Crash(node int) error { return n.broker.post("/v1/crash", fields{"node": node}) }

// Restart restarts a crashed node and returns when clients can connect. snapshots is what happens to the producer snapshots
// on its disk first: keep, drop or corrupt.
func (n Nodes) Restart(node int, snapshots string) error {
	return n.broker.post("/v1/restart", fields{"node": node, "snapshots": snapshots})
}

// Isolate cuts a node off from the "controller", the other "nodes" or its "clients", until Rejoin.
func (n Nodes) Isolate(node int, from ...string) error {
	return n.change(node, "isolate", fields{"from": from})
}

// Rejoin ends the isolation of a node.
func (n Nodes) Rejoin(node int) error { return n.change(node, "rejoin", nil) }

// MoveLeader makes a node of the ISR the leader of a partition.
func (n Nodes) MoveLeader(topic string, partition, node int) error {
	return n.broker.post("/v1/partitions/leader", fields{"topic": topic, "partition": partition, "node": node})
}

// Partitions returns the partitions of a topic with their leaders and replicas.
func (n Nodes) Partitions(topic string) ([]PartitionState, error) {
	return list[PartitionState](n.broker, "/v1/partitions", "topic="+url.QueryEscape(topic)+"&")
}

func (n Nodes) change(node int, change string, body any) error {
	return n.broker.post(fmt.Sprintf("/v1/nodes/%d/%s", node, change), body)
}
