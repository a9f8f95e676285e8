import java.lang.reflect.Field;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;

/** Prints every configuration key of this Kafka, one line for each key, fields separated by tabs:
 *  scope, name, type, default ("-" none, "=" and the text), validation, dynamic mode, synonyms ("name*factor"), internal.
 *  Run with: java -cp 'JARS/*' tools/reference/ConfigKeys.java; see tools/generate_config_table.py. */
public class ConfigKeys {
    public static void main(String[] arguments) throws Exception {
        Map<String, String> modes = DynamicBrokerConfig.dynamicConfigUpdateModes();
        print("broker", KafkaConfig.configDef(), modes);
        print("topic", LogConfig.configDefCopy(), Map.of());
        print("group", GroupConfig.CONFIG_DEF, Map.of());
    }

    static void print(String scope, ConfigDef definition, Map<String, String> modes) throws Exception {
        for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values()) {
            String shown = !key.hasDefault() ? "required" : key.defaultValue == null ? "-"
                : "=" + ConfigDef.convertToString(key.defaultValue, key.type);
            System.out.println(String.join("\t", scope, key.name, key.type.toString(), shown, validation(key.validator),
                modes.getOrDefault(key.name, "read-only"), synonyms(scope, key.name), Boolean.toString(key.internalConfig)));
        }
    }

    /** The broker keys a topic or group key takes its default from, in the order they are asked, each with what one unit is worth. */
    static String synonyms(String scope, String name) {
        StringJoiner joined = new StringJoiner(" ");
        if (scope.equals("topic"))
            ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.getOrDefault(name, List.of()).forEach(synonym ->
                joined.add(synonym.name() + "*" + synonym.converter().apply("1")));
        if (scope.equals("group"))
            GroupConfig.brokerSynonym(name).ifPresent(synonym -> joined.add(synonym + "*1"));
        return joined.toString();
    }

    static String validation(ConfigDef.Validator validator) throws Exception {
        if (validator == null)
            return "";
        switch (validator.getClass().getSimpleName()) {
            case "Range":
                return "range " + text(field(validator, "min")) + " " + text(field(validator, "max"));
            case "ValidString":
                return "in " + String.join(",", strings(field(validator, "validStrings")));
            case "CaseInsensitiveValidString":
                return "in_any_case " + String.join(",", strings(field(validator, "validStrings")));
            case "ValidList":
                return "list" + (Boolean.TRUE.equals(field(validator, "isEmptyAllowed")) ? " empty" : "")
                    + (Boolean.TRUE.equals(field(validator, "isNullAllowed")) ? " null" : "")
                    + " in:" + String.join(",", strings(field(field(validator, "validString"), "validStrings")));
            default:
                return "other " + validator;
        }
    }

    static Object field(Object owner, String name) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }

    static String text(Object value) {
        return value == null ? "-" : value.toString();
    }

    static List<String> strings(Object values) {
        return ((Collection<?>) values).stream().map(Object::toString).toList();
    }
}
