import java.util.List;
import java.util.Map;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.storage.internals.log.LogConfig;

/** Prints what Kafka makes of configuration values: one JSON array a line, [scope, key, text, "ok" or "error", value or message]. */
public class ConfigValues {
    static final String[][] TOPIC = {
        {"retention.ms", "x"}, {"retention.ms", ""}, {"retention.ms", " 5 "}, {"retention.ms", "-1"}, {"retention.ms", "-2"},
        {"retention.ms", "5.5"}, {"retention.ms", "9223372036854775807"}, {"retention.ms", "9223372036854775808"},
        {"retention.ms", "+5"}, {"retention.ms", "1_000"}, {"retention.ms", "0x10"}, {"retention.ms", "5L"},
        {"segment.bytes", "99999999999"}, {"segment.bytes", "1048575"}, {"segment.bytes", "1048576"},
        {"preallocate", "yes"}, {"preallocate", " TRUE "}, {"preallocate", ""}, {"preallocate", "False"},
        {"compression.type", "foo"}, {"compression.type", "GZIP"}, {"compression.type", ""}, {"compression.type", " lz4 "},
        {"compression.lz4.level", "18"}, {"compression.lz4.level", "0"}, {"compression.gzip.level", "0"},
        {"compression.gzip.level", "-1"}, {"compression.gzip.level", "10"}, {"compression.zstd.level", "23"},
        {"cleanup.policy", ""}, {"cleanup.policy", "foo"}, {"cleanup.policy", "compact , delete"},
        {"cleanup.policy", "compact,,delete"}, {"cleanup.policy", "delete,delete"}, {"cleanup.policy", "Delete"},
        {"cleanup.policy", "delete,"},
        {"min.cleanable.dirty.ratio", "2"}, {"min.cleanable.dirty.ratio", "-0.1"}, {"min.cleanable.dirty.ratio", "abc"},
        {"min.cleanable.dirty.ratio", "1e-1"}, {"min.cleanable.dirty.ratio", "NaN"}, {"min.cleanable.dirty.ratio", "0.5f"},
        {"min.cleanable.dirty.ratio", "1_0"}, {"min.cleanable.dirty.ratio", ".5"}, {"min.cleanable.dirty.ratio", "1."},
        {"message.timestamp.type", "createtime"}, {"message.timestamp.type", "LogAppendTime"},
        {"leader.replication.throttled.replicas", "0:1"}, {"leader.replication.throttled.replicas", "*"},
        {"leader.replication.throttled.replicas", "none"}, {"leader.replication.throttled.replicas", "0:1,abc"},
        {"max.message.bytes", "-1"}, {"min.insync.replicas", "0"}, {"local.retention.ms", "-3"},
        {"remote.storage.enable", "maybe"}, {"internal.segment.bytes", "5"},
    };
    static final String[][] BROKER = {
        {"num.partitions", "0"}, {"num.partitions", "abc"}, {"node.id", "-1"}, {"log.dirs", ""}, {"log.dirs", "/a,/a"},
        {"process.roles", "foo"}, {"process.roles", ""}, {"transaction.partition.verification.enable", "1"},
        {"group.coordinator.rebalance.protocols", "x"}, {"ssl.client.auth", "maybe"}, {"listeners", ""},
        {"security.inter.broker.protocol", "PLAINTEXTX"}, {"early.start.listeners", ""}, {"broker.rack", "  a "},
        {"remote.log.metadata.manager.listener.name", ""}, {"sasl.oauthbearer.assertion.algorithm", "HS"},
        {"share.coordinator.state.topic.replication.factor", "40000"}, {"log.message.timestamp.type", "x"},
        {"cordoned.log.dirs", "a,a"}, {"compression.type", "none"}, {"producer.id.expiration.ms", "0"},
        {"group.consumer.migration.policy", "Upgrade"}, {"log.cleanup.policy", "delete,delete"},
    };

    public static void main(String[] arguments) {
        print("topic", LogConfig.configDefCopy(), TOPIC);
        print("broker", KafkaConfig.configDef(), BROKER);
    }

    static void print(String scope, ConfigDef definition, String[][] cases) {
        for (String[] key : cases) {
            String verdict;
            try {
                verdict = "\"ok\", " + quoted(String.valueOf(read(scope, definition, key[0], key[1])));
            } catch (RuntimeException error) {
                verdict = "\"error\", " + quoted(error.getMessage());
            }
            System.out.println("[" + quoted(scope) + ", " + quoted(key[0]) + ", " + quoted(key[1]) + ", " + verdict + "]");
        }
    }

    static Object read(String scope, ConfigDef definition, String name, String text) {
        if (scope.equals("topic")) {
            LogConfig.validate(Map.of(name, text));
            return shown(new LogConfig(Map.of(name, text)).values().get(name));
        }
        ConfigDef only = new ConfigDef().define(definition.configKeys().get(name));
        return shown(only.parse(Map.of(name, text)).get(name));
    }

    static Object shown(Object value) {
        return value instanceof List<?> list ? list.toString() : value;
    }

    static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
