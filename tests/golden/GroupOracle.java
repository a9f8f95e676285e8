// Answers questions about groups of the consumer protocol with Kafka's own classes, without a broker: a question a line
// on standard input, its answer a line on standard output. Words are separated by tabs, lists by commas.
//   hash HEX                         the XXH3 hash of bytes
//   regex PATTERN NAME,NAME          0 or 1 for each name, or the error (the pattern in base64)
//   assign ASSIGNOR HOMOGENEOUS TOPIC=COUNT,... MEMBER/INSTANCE/TOPIC+TOPIC/TOPIC:P.P.P+TOPIC:P,... [TOPIC:P.P.P+...]
//                                    MEMBER/TOPIC:P.P.P+..., the topics as base64 ids
//   records                          key and value of each record of a list, in hex

import com.dynatrace.hash4j.hashing.Hashing;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.ResolvedRegularExpression;

public class GroupOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split("\t", -1);
            switch (words[0]) {
                case "hash" -> out.append(hash(words[1]));
                case "regex" -> out.append(regex(words[1], words[2]));
                case "assign" -> out.append(assign(words));
                case "records" -> out.append(records());
            }
            out.append("\n");
        }
        System.out.print(out);
    }

    static String hash(String hex) {
        return Long.toUnsignedString(Hashing.xxh3_64().hashBytesToLong(HexFormat.of().parseHex(hex)), 16);
    }

    static String regex(String encoded, String names) {
        String text = new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
        try {
            Pattern pattern = Pattern.compile(text);
            StringBuilder matches = new StringBuilder();
            for (String name : names.split(",", -1)) matches.append(pattern.matcher(name).matches() ? '1' : '0');
            return matches.toString();
        } catch (PatternSyntaxException error) {
            return error.getDescription();
        }
    }

    static String assign(String[] words) {
        Map<Uuid, Integer> counts = new HashMap<>();
        for (String topic : parts(words[3], ",")) {
            int split = topic.lastIndexOf('=');
            counts.put(Uuid.fromString(topic.substring(0, split)), Integer.parseInt(topic.substring(split + 1)));
        }
        Optional<Map<Uuid, Set<Integer>>> assignable = words.length > 5 ? Optional.of(partitions(words[5])) : Optional.empty();
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (String member : parts(words[4], ",")) {
            String[] fields = member.split("/", -1);
            Set<Uuid> subscribed = new HashSet<>();
            for (String topic : parts(fields[2], "\\+")) subscribed.add(Uuid.fromString(topic));
            Map<Uuid, Set<Integer>> assigned = partitions(fields[3]);
            assigned.forEach((topic, owned) -> {
                for (int partition : owned) owners.computeIfAbsent(topic, k -> new HashMap<>()).put(partition, fields[0]);
            });
            Optional<String> instance = fields[1].isEmpty() ? Optional.empty() : Optional.of(fields[1]);
            members.put(fields[0], new MemberSubscriptionAndAssignmentImpl(Optional.empty(), instance, subscribed, new Assignment(assigned)));
        }
        SubscriptionType type = words[2].equals("1") ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        GroupSpec spec = new GroupSpecImpl(Collections.unmodifiableMap(members), type, owners, assignable);
        SubscribedTopicDescriber topics = new SubscribedTopicDescriber() {
            public int numPartitions(Uuid topic) { return counts.getOrDefault(topic, -1); }
            public Set<String> racksForPartition(Uuid topic, int partition) { return Set.of(); }
            public Set<Integer> assignablePartitions(Uuid topic) { return Set.of(); }
        };
        PartitionAssignor assignor = switch (words[1]) {
            case "range" -> new RangeAssignor();
            case "uniform" -> new UniformAssignor();
            default -> new SimpleAssignor();
        };
        List<String> answers = new ArrayList<>();
        for (Map.Entry<String, MemberAssignment> entry : new TreeMap<>(assignor.assign(spec, topics).members()).entrySet()) {
            List<String> assigned = new ArrayList<>();
            for (Map.Entry<Uuid, Set<Integer>> topic : entry.getValue().partitions().entrySet()) {
                StringJoiner partitions = new StringJoiner(".");
                for (int partition : new TreeSet<>(topic.getValue())) partitions.add("" + partition);
                assigned.add(topic.getKey() + ":" + partitions);
            }
            Collections.sort(assigned);
            answers.add(entry.getKey() + "/" + String.join("+", assigned));
        }
        return String.join(",", answers);
    }

    static Map<Uuid, Set<Integer>> partitions(String text) {
        Map<Uuid, Set<Integer>> topics = new HashMap<>();
        for (String entry : parts(text, "\\+")) {
            String[] split = entry.split(":");
            List<Integer> partitions = new ArrayList<>();
            for (String partition : split[1].split("\\.")) partitions.add(Integer.parseInt(partition));
            topics.put(Uuid.fromString(split[0]), new HashSet<>(partitions));
        }
        return topics;
    }

    static List<String> parts(String text, String separator) {
        return text.isEmpty() ? List.of() : Arrays.asList(text.split(separator));
    }

    static String records() {
        Uuid topic = new Uuid(0x0102030405060708L, 0x090a0b0c0d0e0f10L);
        ConsumerGroupMember plain = new ConsumerGroupMember.Builder("m").setClientId("c").setClientHost("/127.0.0.1").build();
        ConsumerGroupMember whole = new ConsumerGroupMember.Builder("m")
            .setInstanceId("i").setRackId("r").setClientId("c").setClientHost("/127.0.0.1")
            .setSubscribedTopicNames(List.of("b", "a")).setSubscribedTopicRegex("x.*").setRebalanceTimeoutMs(300000)
            .setServerAssignorName("uniform").setMemberEpoch(7).setPreviousMemberEpoch(6).setState(MemberState.UNREVOKED_PARTITIONS)
            .setAssignedPartitions(Map.of(topic, new TreeMap<>(Map.of(0, 5, 3, 7))))
            .setPartitionsPendingRevocation(Map.of(topic, Map.of(4, 2)))
            .setClassicMemberMetadata(new ConsumerGroupMemberMetadataValue.ClassicMemberMetadata()
                .setSessionTimeoutMs(45000)
                .setSupportedProtocols(List.of(new ConsumerGroupMemberMetadataValue.ClassicProtocol().setName("range").setMetadata(new byte[] {1, 2}))))
            .build();
        List<CoordinatorRecord> records = List.of(
            GroupCoordinatorRecordHelpers.newConsumerGroupEpochRecord("g", 3, 0),
            GroupCoordinatorRecordHelpers.newConsumerGroupEpochRecord("g", 4, -2),
            GroupCoordinatorRecordHelpers.newConsumerGroupEpochTombstoneRecord("g"),
            GroupCoordinatorRecordHelpers.newConsumerGroupSubscriptionMetadataTombstoneRecord("g"),
            GroupCoordinatorRecordHelpers.newConsumerGroupMemberSubscriptionRecord("g", plain),
            GroupCoordinatorRecordHelpers.newConsumerGroupMemberSubscriptionRecord("g", whole),
            GroupCoordinatorRecordHelpers.newConsumerGroupMemberSubscriptionTombstoneRecord("g", "m"),
            GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentMetadataRecord("g", 4, 0),
            GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentMetadataRecord("g", 4, 1700000000000L),
            GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentMetadataTombstoneRecord("g"),
            GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentRecord("g", "m", Map.of()),
            GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentRecord("g", "m", Map.of(topic, new TreeSet<>(Set.of(2, 0)))),
            GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentTombstoneRecord("g", "m"),
            GroupCoordinatorRecordHelpers.newConsumerGroupCurrentAssignmentRecord("g", plain),
            GroupCoordinatorRecordHelpers.newConsumerGroupCurrentAssignmentRecord("g", whole),
            GroupCoordinatorRecordHelpers.newConsumerGroupCurrentAssignmentTombstoneRecord("g", "m"),
            GroupCoordinatorRecordHelpers.newConsumerGroupRegularExpressionRecord("g", "x.*", new ResolvedRegularExpression(Set.of("xb", "xa"), 12, 34)),
            GroupCoordinatorRecordHelpers.newConsumerGroupRegularExpressionTombstone("g", "x.*"));
        GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
        List<String> answers = new ArrayList<>();
        for (CoordinatorRecord record : records) {
            byte[] value = serde.serializeValue(record);
            answers.add(HexFormat.of().formatHex(serde.serializeKey(record)) + "=" + (value == null ? "-" : HexFormat.of().formatHex(value)));
        }
        return String.join(",", answers);
    }
}
