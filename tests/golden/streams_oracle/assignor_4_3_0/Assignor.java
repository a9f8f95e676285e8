// The task assignor of Kafka 4.3.0, asked in the words of StreamsOracle.java.

import java.util.*;
import java.util.stream.Collectors;
import org.apache.kafka.coordinator.group.streams.assignor.*;

class Assignor implements TopologyDescriber {
    private final Map<String, Integer> counts;
    private final Set<String> stateful;
    private final int replicas;
    private final Map<String, AssignmentMemberSpec> members = new HashMap<>();

    Assignor(Map<String, Integer> counts, Set<String> stateful, int replicas) {
        this.counts = counts;
        this.stateful = stateful;
        this.replicas = replicas;
    }

    public List<String> subtopologies() {
        return List.copyOf(counts.keySet());
    }

    public int maxNumInputPartitions(String id) {
        return counts.get(id);
    }

    public boolean isStateful(String id) {
        return stateful.contains(id);
    }

    void add(String id, String process, Map<String, Set<Integer>> active, Map<String, Set<Integer>> standby, Map<TaskId, Long> offsets) {
        members.put(id, new AssignmentMemberSpec(
            Optional.empty(), Optional.empty(), active, standby, Map.of(), process, Map.of(), offsets, Map.of()));
    }

    /** Returns the active and the standby tasks of each member. */
    Map<String, List<Map<String, Set<Integer>>>> assign() {
        GroupAssignment assigned = new StickyTaskAssignor().assign(
            new GroupSpecImpl(members, Map.of("num.standby.replicas", String.valueOf(replicas))), this);
        return assigned.members().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> List.of(entry.getValue().activeTasks(), entry.getValue().standbyTasks())));
    }
}
