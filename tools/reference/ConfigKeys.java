import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;

/** Prints every configuration key of the Kafka on the class path, one line for each key, fields separated by tabs:
 *  scope, name, type, default ("-" none, "=" and the text), validation, dynamic mode, synonyms ("name*factor"), internal.
 *  Everything but ConfigDef is found by reflection, because the classes moved between Kafka 2.1 and 4.4.
 *  Run with: java -cp 'JARS/*' tools/reference/ConfigKeys.java; see tools/generate_config_table.py. */
public class ConfigKeys {
    static final String[] LOG_CONFIGS = {"org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig"};
    static final String[] DYNAMIC_CONFIGS =
        {"org.apache.kafka.server.config.DynamicBrokerConfig", "kafka.server.DynamicBrokerConfig"};
    static final String GROUP_CONFIG = "org.apache.kafka.coordinator.group.GroupConfig";

    public static void main(String[] arguments) throws Exception {
        @SuppressWarnings("unchecked")
        Map<String, String> modes = (Map<String, String>) member(DYNAMIC_CONFIGS, "dynamicConfigUpdateModes");
        print("broker", (ConfigDef) member(new String[] {"kafka.server.KafkaConfig"}, "configDef"), modes, Map.of());
        ConfigDef topic = (ConfigDef) member(LOG_CONFIGS, "configDefCopy", "CONFIG", "CONFIG_DEF", "configDef");
        print("topic", topic, Map.of(), topicSynonyms());
        ConfigDef group = (ConfigDef) member(new String[] {GROUP_CONFIG}, "CONFIG_DEF", "CONFIG", "configDef");
        if (group != null)
            print("group", group, Map.of(), groupSynonyms(group));
    }

    static void print(String scope, ConfigDef definition, Map<String, String> modes, Map<String, String> synonyms)
            throws Exception {
        for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values()) {
            String shown = !key.hasDefault() ? "required" : key.defaultValue == null ? "-"
                : "=" + ConfigDef.convertToString(key.defaultValue, key.type);
            System.out.println(String.join("\t", scope, key.name, key.type.toString(), shown, validation(key.validator),
                modes.getOrDefault(key.name, "read-only"), synonyms.getOrDefault(key.name, ""),
                Boolean.toString(key.internalConfig)));
        }
    }

    /** The broker keys a topic key takes its default from, in the order they are asked, each with what one unit is worth. */
    static Map<String, String> topicSynonyms() throws Exception {
        Object all = member(new String[] {"org.apache.kafka.server.config.ServerTopicConfigSynonyms"},
            "ALL_TOPIC_CONFIG_SYNONYMS");
        if (all == null)
            all = member(LOG_CONFIGS, "AllTopicConfigSynonyms");
        if (all == null)
            all = member(LOG_CONFIGS, "TopicConfigSynonyms");
        Map<String, String> joined = new TreeMap<>();
        for (Object entry : items(all)) {
            StringJoiner synonyms = new StringJoiner(" ");
            Object value = second(entry);
            for (Object synonym : value instanceof String ? List.of(value) : items(value))
                synonyms.add(synonym instanceof String ? synonym + "*1" : call(synonym, "name") + "*" + one(synonym));
            joined.put((String) first(entry), synonyms.toString());
        }
        return joined;
    }

    @SuppressWarnings("unchecked")
    static String one(Object synonym) throws Exception {
        return ((java.util.function.Function<String, String>) call(synonym, "converter")).apply("1");
    }

    /** The broker key a group key takes its default from, by the method of Kafka 4.3, and before it by its name. */
    static Map<String, String> groupSynonyms(ConfigDef definition) throws Exception {
        ConfigDef broker = (ConfigDef) member(new String[] {"kafka.server.KafkaConfig"}, "configDef");
        Method method = null;
        for (Method each : Class.forName(GROUP_CONFIG).getMethods())
            if (each.getName().equals("brokerSynonym"))
                method = each;
        Map<String, String> found = new TreeMap<>();
        for (String name : definition.names()) {
            Object synonym = method != null ? ((Optional<?>) method.invoke(null, name)).orElse(null)
                : broker.names().contains("group." + name) ? "group." + name : null;
            if (synonym != null)
                found.put(name, synonym + "*1");
        }
        return found;
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
                return "list" + (isAllowed(validator, "isEmptyAllowed") ? " empty" : "")
                    + (isAllowed(validator, "isNullAllowed") ? " null" : "")
                    + " in:" + String.join(",", strings(field(field(validator, "validString"), "validStrings")));
            default:
                return "other " + validator.toString().replaceAll("\\$*@[0-9a-f]+$", "");
        }
    }

    /** The value of a flag of ValidList; before Kafka 4.2 the list had no flags, and was not checked. */
    static boolean isAllowed(Object validator, String flag) throws Exception {
        try {
            return (Boolean) field(validator, flag);
        } catch (NoSuchFieldException error) {
            return true;
        }
    }

    // -- Static members of Java classes, and members of Scala's objects

    /** The value of the first member that one of the classes has: a static method or field, or one of the object. */
    static Object member(String[] classes, String... names) throws Exception {
        for (String name : classes) {
            for (String suffix : new String[] {"", "$"}) {
                Class<?> type;
                try {
                    type = Class.forName(name + suffix);
                } catch (ClassNotFoundException error) {
                    continue;
                }
                Object module = suffix.isEmpty() ? null : type.getField("MODULE$").get(null);
                for (String each : names) {
                    Object found = valueOf(type, module, each);
                    if (found != null)
                        return found;
                }
            }
        }
        return null;
    }

    static Object valueOf(Class<?> type, Object module, String name) throws Exception {
        for (Method method : type.getDeclaredMethods()) {
            boolean isStatic = java.lang.reflect.Modifier.isStatic(method.getModifiers());
            if (isNamed(method, name) && method.getParameterCount() == 0 && (isStatic || module != null)) {
                method.setAccessible(true);
                return method.invoke(module);
            }
        }
        for (Field field : type.getDeclaredFields()) {
            boolean isStatic = java.lang.reflect.Modifier.isStatic(field.getModifiers());
            if (isNamed(field, name) && (isStatic || module != null)) {
                field.setAccessible(true);
                return field.get(module);
            }
        }
        return null;
    }

    /** Whether a member has a name; Scala 2.12 puts the class before that of a private one. */
    static boolean isNamed(java.lang.reflect.Member member, String name) {
        return member.getName().equals(name) || member.getName().endsWith("$$" + name);
    }

    /** The elements of a collection of Java or Scala; of a map, its entries. */
    static List<Object> items(Object collection) throws Exception {
        if (collection instanceof Map)
            return new ArrayList<>(((Map<?, ?>) collection).entrySet());
        if (collection instanceof Collection)
            return new ArrayList<>((Collection<?>) collection);
        Object iterator = call(collection, "iterator");
        List<Object> found = new ArrayList<>();
        while ((Boolean) call(iterator, "hasNext"))
            found.add(call(iterator, "next"));
        return found;
    }

    static Object first(Object entry) throws Exception {
        return entry instanceof Map.Entry ? ((Map.Entry<?, ?>) entry).getKey() : call(entry, "_1");
    }

    static Object second(Object entry) throws Exception {
        return entry instanceof Map.Entry ? ((Map.Entry<?, ?>) entry).getValue() : call(entry, "_2");
    }

    static Object call(Object owner, String name) throws Exception {
        Method method = owner.getClass().getMethod(name);
        method.setAccessible(true);
        return method.invoke(owner);
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
