package fauxka;

import java.util.LinkedHashMap;
import java.util.Map;

/** Conditions on requests, which must all hold. Of several values of one condition, one must be equal. */
public abstract class Selection<S extends Selection<S>> {
    final Map<String, Object> match = new LinkedHashMap<>();

    Selection() {}

    /** names: Kafka's, such as "Produce". */
    public S api(String... names) { return where("api", names); }

    public S topic(String... names) { return where("topic", names); }

    public S partition(int... indexes) { return where("partition", indexes); }

    public S node(int... ids) { return where("node", ids); }

    public S clientId(String... ids) { return where("client_id", ids); }

    public S groupId(String... ids) { return where("group_id", ids); }

    public S producerId(long... ids) { return where("producer_id", ids); }

    /**
     * Any field of `match` of the admin API.
     *
     * @param value a text, a number, an array of them, or a map: Map.of("regex", "orders-.*")
     */
    @SuppressWarnings("unchecked")
    public S where(String field, Object value) {
        match.put(field, value);
        return (S) this;
    }
}
