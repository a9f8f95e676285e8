// The task assignor of Kafka 4.4.0, asked in the words of StreamsOracle.java.

import java.util.*;
import java.util.stream.Collectors;
import org.apache.kafka.coordinator.group.api.streams.assignor.*;
import org.apache.kafka.coordinator.group.streams.assignor.*;

class Assignor implements TopologyDescriber {
    private final Map<String, Integer> counts;
    private final Set<String> stateful;
    private final int replicas;
    private final Map<String, MemberMetadataAndStateImpl> members = new HashMap<>();

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
        Map<String, Map<Integer, Long>> bySubtopology = new HashMap<>();
        offsets.forEach((task, offset) -> bySubtopology.computeIfAbsent(task.subtopologyId(), key -> new HashMap<>()).put(task.partition(), offset));
        members.put(id, new MemberMetadataAndStateImpl(
            Optional.empty(), Optional.empty(), process, Map.of(), active, standby, Map.of(), bySubtopology, Map.of()));
    }

    /** Returns the active and the standby tasks of each member. */
    Map<String, List<Map<String, Set<Integer>>>> assign() {
        GroupAssignment assigned = new StickyTaskAssignor().assign(
            new GroupSpecImpl(members, new AssignmentConfigsImpl(replicas, List.of())), this);
        return assigned.members().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> List.of(entry.getValue().activeTasks(), entry.getValue().standbyTasks())));
    }
}
