package fauxka;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A broker in another process or in a container, by its admin API, which docs/admin-api.md explains. A call that it
 * refuses is a CallException, and no response an UncheckedIOException.
 */
public final class RemoteBroker {
    private static final Duration AWAIT = Duration.ofSeconds(5);

    private final AdminClient client;

    /** admin: "http://host:port". */
    public RemoteBroker(String admin) {
        // HTTP/2, which HttpClient offers by default, is a warning in the log of the broker.
        this(admin, null, HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build());
    }

    /** token: of --admin-token, or null. http: has the certificates of an API with HTTPS. */
    public RemoteBroker(String admin, String token, HttpClient http) {
        client = new AdminClient(admin, token, http);
    }

    public Faults faults() { return new Faults(); }

    public Held held() { return new Held(); }

    public Journal journal() { return new Journal(); }

    public Clock clock() { return new Clock(); }

    public Topics topics() { return new Topics(); }

    public Producers producers() { return new Producers(); }

    public Groups groups() { return new Groups(); }

    /** The fault rules for requests and connections. */
    public final class Faults {
        /** Adds a rule after the existing ones. */
        public Rule add(FaultRule rule) { return new Rule(client.post("/v1/rules", rule.json()).get("id").asLong()); }

        /** Removes all rules; held and hanging requests stay so until a release or a reset. */
        public void clear() { call("DELETE", "/v1/rules", null); }
    }

    /** The handle of a rule. As a resource of a try block it removes the rule. */
    public final class Rule implements AutoCloseable {
        private final long id;

        private Rule(long id) { this.id = id; }

        public long id() { return id; }

        /** The number of requests or connections that the rule has acted on. */
        public int hits() { return client.get(path(), JsonNode.class).get("hits").asInt(); }

        /** Waits for a hit, for 5 s. */
        public int awaitHits() { return awaitHits(1, AWAIT); }

        /** Waits for at least count hits and returns their number. Throws CallException.WaitTimeout. */
        public int awaitHits(int count, Duration timeout) {
            Map<String, Object> query = Map.of("hits", count, "timeout_ms", timeout.toMillis());
            String call = AdminClient.withQuery(path() + "/await", query);
            return client.call("GET", call, null, timeout).get("hits").asInt();
        }

        /** Removes the rule. Throws CallException if it is not in force. */
        public void remove() { call("DELETE", path(), null); }

        @Override
        public void close() { remove(); }

        private String path() { return "/v1/rules/" + id; }
    }

    public record HeldRequest(long id, long rule, int node, String clientId, String api, List<String> topics) {}

    /** The requests that rules hold. */
    public final class Held {
        /** Returns them, oldest first. */
        public List<HeldRequest> list() { return client.list("/v1/held", Map.of(), HeldRequest.class); }

        /** Releases requests by their ids, in this order. */
        public void release(long... ids) { client.post("/v1/held/release", Map.of("ids", ids)); }
    }

    /** Conditions on the requests in the journal; all of them without a condition. */
    public static final class Requests extends Selection<Requests> {
        private long since;

        /** Only requests with a greater id. */
        public Requests since(long id) {
            since = id;
            return this;
        }
    }

    /** A request. error: Kafka's name, or null. rule: the last rule that acted on it, or null. */
    public record Entry(
        long id, int node, String clientId, String api, int apiVersion, List<String> topics, List<Batch> batches,
        boolean answered, String error, Long rule) {}

    /** A batch of a request. decision: appended, duplicate, refused or not_applied. why: the reason as a sentence. */
    public record Batch(
        String topic, int partition, long producerId, int producerEpoch, int baseSequence, int lastSequence,
        int records, String decision, String error, long baseOffset, String why) {}

    /** The requests that the broker received. */
    public final class Journal {
        /** Returns the requests, oldest first. */
        public List<Entry> entries(Requests chosen) { return client.list("/v1/journal", query(chosen), Entry.class); }

        public int count(Requests chosen) {
            String path = AdminClient.withQuery("/v1/journal/count", query(chosen));
            return client.get(path, JsonNode.class).get("count").asInt();
        }

        /** Deletes all requests, and resets the verdict. */
        public void clear() { call("DELETE", "/v1/journal", null); }

        private Map<String, Object> query(Requests chosen) {
            return Map.of("since", chosen.since, "match", AdminClient.JSON.valueToTree(chosen.match));
        }
    }

    public Verdict verdict(String topic) { return verdict(topic, null); }

    /** eventId: "value", "key", "header:NAME" or "json:PATH", to find copies that were sent as new records. */
    public Verdict verdict(String topic, String eventId) {
        Map<String, Object> query = new HashMap<>(Map.of("topic", topic));
        query.put("event_id", eventId);
        return client.get(AdminClient.withQuery("/v1/verdict", query), Verdict.class);
    }

    public GroupVerdict groupVerdict(String group) {
        return client.get(AdminClient.withQuery("/v1/verdict", Map.of("group", group)), GroupVerdict.class);
    }

    /** An application that reads from and writes to another topic. eventId: as of verdict. */
    public record Flow(String from, String to, String eventId) {}

    /** The reasons are those of the only group that reads the input. */
    public FlowVerdict flowVerdict(Flow flow) { return flowVerdict(flow, null); }

    /** group: the one by which the application reads, or null. */
    public FlowVerdict flowVerdict(Flow flow, String group) {
        Map<String, Object> query = new HashMap<>(Map.of("from", flow.from, "to", flow.to, "event_id", flow.eventId));
        query.put("group", group);
        return client.get(AdminClient.withQuery("/v1/verdict", query), FlowVerdict.class);
    }

    /** Reports records as processed by the application of a group. What is reported twice was processed twice. */
    public void processed(String group, String topic, int partition, long... offsets) {
        client.post("/v1/processed", Map.of("group", group, "topic", topic, "partition", partition, "offset", offsets));
    }

    /** Reports records by their event ids, such as "A-17" with the eventId "header:id". */
    public void processedEvents(String group, String topic, String eventId, String... events) {
        client.post("/v1/processed", Map.of("group", group, "topic", topic, "event_id", eventId, "event", events));
    }

    /** REAL follows the machine's clock; MANUAL stands still until it is advanced. */
    public enum ClockMode { REAL, MANUAL }

    /** The broker's clock, which all of its timeouts and expirations use. */
    public final class Clock {
        public Instant now() { return time(client.get("/v1/clock", JsonNode.class)); }

        public void setMode(ClockMode mode) { change("mode", mode); }

        /** Advances the clock in either mode, and returns its time after all expired timers have run. */
        public Instant advance(Duration duration) { return time(change("advance_ms", duration.toMillis())); }

        private JsonNode change(String field, Object value) { return client.post("/v1/clock", Map.of(field, value)); }

        private Instant time(JsonNode clock) { return Instant.ofEpochMilli(clock.get("now_ms").asLong()); }
    }

    /** configs: those that were set for the topic. */
    public record Topic(String name, boolean internal, Map<String, String> configs, List<Log> partitions) {}

    /** The log of a partition. The offsets are null while all nodes with a replica are down. */
    public record Log(int partition, int leader, Long logStartOffset, Long logEndOffset, Long highWatermark) {}

    public record Header(String name, Bytes value) {}

    /** A record in the log; key, value: null for null. Numbers of the producer: -1 without one. timestamp: in ms. */
    public record StoredRecord(
        int partition, long offset, long timestamp, Bytes key, Bytes value, List<Header> headers, long producerId,
        int producerEpoch, int sequence, boolean isControl, String transaction) {}

    /** Test data. partition: null for that of the key. timestamp: in ms, null for that of the broker's clock. */
    public record SeedRecord(Bytes key, Bytes value, List<Header> headers, Integer partition, Long timestamp) {
        public SeedRecord(String key, String value) { this(Bytes.of(key), Bytes.of(value), List.of(), null, null); }
    }

    /** The place of a seeded record. */
    public record Seeded(int partition, long offset, long timestamp) {}

    public final class Topics {
        public List<Topic> list() { return client.list("/v1/topics", Map.of(), Topic.class); }

        /** Creates a topic with Kafka's checks and messages. */
        public Topic create(String name, int partitions, Map<String, ?> configs) {
            Map<String, Object> topic = Map.of("name", name, "partitions", partitions, "configs", configs);
            return AdminClient.JSON.convertValue(client.post("/v1/topics", topic), Topic.class);
        }

        /** Deletes a topic with its records. */
        public void delete(String name) { call("DELETE", "/v1/topics/" + AdminClient.encoded(name), null); }

        /** Appends test data to the log, without a request: no fault rule applies, and the journal has no entry. */
        public List<Seeded> seed(String name, SeedRecord... records) {
            return AdminClient.items(client.post(recordsPath(name), Map.of("records", records)), Seeded.class);
        }
    }

    /** Returns all records in the log of a topic, by partition and offset, transaction markers included. */
    public List<StoredRecord> records(String topic) {
        return client.list(recordsPath(topic), Map.of(), StoredRecord.class);
    }

    private static String recordsPath(String topic) { return "/v1/topics/" + AdminClient.encoded(topic) + "/records"; }

    /** The state of a producer in a partition. cached: the batches that are recognised when they are sent again. */
    public record Producer(
        String topic, int partition, long producerId, int producerEpoch, int nextSequence, List<CachedBatch> cached) {}

    public record CachedBatch(int baseSequence, int lastSequence, long baseOffset, long timestamp) {}

    /** The state of producers. A change applies to all partitions, and returns the states before it. */
    public final class Producers {
        public List<Producer> list() { return client.list("/v1/producers", Map.of(), Producer.class); }

        /** Deletes the state of a producer, its open transaction included. */
        public List<Producer> forget(long producerId) { return change("forget", producerId); }

        /** Expires a producer, as after producer.id.expiration.ms. */
        public List<Producer> expire(long producerId) { return change("expire", producerId); }

        /** Increments the epoch of a producer, which fences it. */
        public List<Producer> bumpEpoch(long producerId) { return change("bump_epoch", producerId); }

        /** Deletes the recognised batches of a producer; the next sequence stays. */
        public List<Producer> evictCache(long producerId) { return change("evict_cache", producerId); }

        private List<Producer> change(String change, long producerId) {
            Map<String, Object> chosen = Map.of("producer_id", producerId);
            return AdminClient.items(client.post("/v1/producers/" + change, chosen), Producer.class);
        }
    }

    /** type, state: Kafka's names. protocol: the assignor. */
    public record Group(
        String groupId, String type, String state, String protocol, List<Member> members, List<Offset> offsets) {}

    /** partitions: the assignment by topic, or null. */
    public record Member(String memberId, String clientId, Map<String, List<Integer>> partitions) {}

    /** A committed offset. lag: the records after it; null while that is unknown. */
    public record Offset(String topic, int partition, long offset, Long lag) {}

    /** The groups of every type. */
    public final class Groups {
        public List<Group> list() { return client.list("/v1/groups", Map.of(), Group.class); }

        public Group get(String id) { return client.get("/v1/groups/" + AdminClient.encoded(id), Group.class); }
    }

    /** A node. state: running, stopped or crashed. leads: the number of partitions that it leads. */
    public record Node(
        int node, String state, String bootstrap, String rack, boolean isController, List<String> isolatedFrom,
        int leads, int connections) {}

    /** A partition and the ids of its nodes. leader: -1 for none. */
    public record Partition(
        String topic, int partition, int leader, int leaderEpoch, List<Integer> replicas, List<Integer> isr) {}

    /** What a node can be cut off from. */
    public enum Surroundings { CONTROLLER, NODES, CLIENTS }

    public List<Node> nodes() { return AdminClient.items(client.get("/v1/nodes", JsonNode.class), Node.class); }

    public List<Partition> partitions(String topic) {
        return client.list("/v1/partitions", Map.of("topic", topic), Partition.class);
    }

    /** Stops a node as SIGTERM does. */
    public void stopNode(int node) { change(node, "stop", Map.of()); }

    /** Starts a node that is down, and returns when clients can connect. */
    public void startNode(int node) { change(node, "start", null); }

    /** Crashes a node as SIGKILL does. isNoticed: whether the controller learns of it at once, or by a timeout. */
    public void crash(int node, boolean isNoticed) {
        client.post("/v1/crash", Map.of("node", node, "noticed", isNoticed));
    }

    /** Restarts a crashed node, and returns when clients can connect. */
    public void restart(int node) { client.post("/v1/restart", Map.of("node", node)); }

    /** Cuts a node off, as a broken network does. */
    public void isolate(int node, Surroundings... from) { change(node, "isolate", Map.of("from", from)); }

    /** Ends the isolation of a node. */
    public void rejoin(int node) { change(node, "rejoin", null); }

    /** Makes a node of the ISR the leader. */
    public void moveLeader(String topic, int partition, int node) {
        client.post("/v1/partitions/leader", Map.of("topic", topic, "partition", partition, "node", node));
    }

    private void change(int node, String change, Object body) { client.post("/v1/nodes/" + node + "/" + change, body); }

    public enum Scope { ALL, DATA, FAULTS, JOURNAL }

    /** Resets the broker to its state after the start. Clients connect again. */
    public void reset() { reset(Scope.ALL); }

    public void reset(Scope scope) { client.post("/v1/reset", Map.of("scope", scope)); }

    /** Takes a snapshot of a broker in memory, and returns its id. */
    public long snapshot() { return client.post("/v1/snapshot", null).get("id").asLong(); }

    /** Restores a snapshot, any number of times. Clients connect again. */
    public void restore(long snapshot) { client.post("/v1/restore", Map.of("id", snapshot)); }

    /** Any call of the admin API. body: an object that Jackson writes, or null. Returns the body of the response. */
    public JsonNode call(String method, String path, Object body) { return client.call(method, path, body); }
}
