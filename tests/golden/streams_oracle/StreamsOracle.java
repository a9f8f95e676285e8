// Answers questions about streams groups with Kafka's own classes, without a broker (Assignor.java of the release is
// compiled with it): a question a line on standard input,
// its answer a line on standard output. Words are separated by tabs, lists by commas.
//   assign REPLICAS SUB=COUNT:STATEFUL,... MEMBER/PROCESS/TASKS/TASKS/OFFSETS,...   what each member gets: MEMBER/TASKS/TASKS,...
//   step EPOCH TASKS/TASKS/TASKS TASKS/TASKS/TASKS|- OWNERS/OWNERS/OWNERS MEMBER    the member after its next step
// TASKS are SUB_P+SUB_P, OFFSETS SUB_P@N+..., OWNERS SUB_P=PROCESS+..., active tasks of a member SUB_P@EPOCH+...; of
// three TASKS the active ones are first, then standby and warm-up tasks. A MEMBER of a step is EPOCH/PREVIOUS/STATE/PROCESS,
// then three TASKS that it has and three that it must give up.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.stream.Collectors;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.coordinator.group.streams.*;
import org.apache.kafka.coordinator.group.streams.assignor.TaskId;

public class StreamsOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split("\t", -1);
            out.append(words[0].equals("assign") ? assign(words) : step(words)).append("\n");
        }
        System.out.print(out);
    }

    static String assign(String[] words) {
        Map<String, Integer> counts = new TreeMap<>();
        Set<String> stateful = new HashSet<>();
        for (String part : words[2].split(",")) {
            String[] sides = part.split("[=:]");
            counts.put(sides[0], Integer.parseInt(sides[1]));
            if (sides[2].equals("1")) stateful.add(sides[0]);
        }
        Assignor assignor = new Assignor(counts, stateful, Integer.parseInt(words[1]));
        for (String part : words[3].split(",")) {
            String[] fields = part.split("/", -1);
            Map<TaskId, Long> offsets = new HashMap<>();
            tasks(fields[4]).forEach((task, number) -> offsets.put(task, Long.parseLong(number)));
            assignor.add(fields[0], fields[1], bySubtopology(fields[2]), bySubtopology(fields[3]), offsets);
        }
        return new TreeMap<>(assignor.assign()).entrySet().stream()
            .map(entry -> entry.getKey() + "/" + entry.getValue().stream().map(StreamsOracle::text).collect(Collectors.joining("/")))
            .collect(Collectors.joining(","));
    }

    static String step(String[] words) {
        String[] target = words[2].split("/", -1);
        String[] owners = words[4].split("/", -1);
        String[] has = words[5].split("/", -1);
        Map<TaskId, String> active = tasks(owners[0]), standby = tasks(owners[1]), warmup = tasks(owners[2]);
        StreamsGroupMember member = StreamsGroupMember.Builder.withDefaults("m")
            .setMemberEpoch(Integer.parseInt(has[0])).setPreviousMemberEpoch(Integer.parseInt(has[1]))
            .setState(MemberState.fromValue(Byte.parseByte(has[2]))).setProcessId(has[3])
            .setAssignedTasks(withEpochs(has, 4)).setTasksPendingRevocation(withEpochs(has, 7)).build();
        CurrentAssignmentBuilder builder = new CurrentAssignmentBuilder(member)
            .withTargetAssignment(Integer.parseInt(words[1]), tuple(target))
            .withCurrentActiveTaskProcessId((id, partition) -> active.get(new TaskId(id, partition)))
            .withCurrentStandbyTaskProcessIds((id, partition) -> processes(standby, id, partition))
            .withCurrentWarmupTaskProcessIds((id, partition) -> processes(warmup, id, partition))
            .withOwnedAssignment(words[3].equals("-") ? null : tuple(words[3].split("/", -1)));
        try {
            StreamsGroupMember moved = builder.build();
            return moved.memberEpoch() + "/" + moved.previousMemberEpoch() + "/" + moved.state().value() + "/"
                + text(moved.assignedTasks()) + "/" + text(moved.tasksPendingRevocation());
        } catch (ApiException error) {
            return error.getClass().getSimpleName();
        }
    }

    static Set<String> processes(Map<TaskId, String> owners, String id, int partition) {
        String found = owners.get(new TaskId(id, partition));
        return found == null ? Set.of() : new HashSet<>(List.of(found.split(";")));
    }

    static Map<TaskId, String> tasks(String text) {
        Map<TaskId, String> found = new LinkedHashMap<>();
        for (String part : text.isEmpty() ? new String[0] : text.split("\\+")) {
            String[] sides = part.split("[_@=]");
            found.put(new TaskId(sides[0], Integer.parseInt(sides[1])), sides.length > 2 ? sides[2] : "");
        }
        return found;
    }

    static Map<String, Set<Integer>> bySubtopology(String text) {
        Map<String, Set<Integer>> found = new HashMap<>();
        tasks(text).keySet().forEach(task -> found.computeIfAbsent(task.subtopologyId(), key -> new HashSet<>()).add(task.partition()));
        return found;
    }

    static TasksTuple tuple(String[] fields) {
        return new TasksTuple(bySubtopology(fields[0]), bySubtopology(fields[1]), bySubtopology(fields[2]));
    }

    static TasksTupleWithEpochs withEpochs(String[] fields, int first) {
        Map<String, Map<Integer, Integer>> active = new HashMap<>();
        tasks(fields[first]).forEach((task, epoch) -> active.computeIfAbsent(task.subtopologyId(), key -> new HashMap<>()).put(task.partition(), Integer.parseInt(epoch)));
        return new TasksTupleWithEpochs(active, bySubtopology(fields[first + 1]), bySubtopology(fields[first + 2]));
    }

    static String text(Map<String, Set<Integer>> tasks) {
        return tasks.entrySet().stream()
            .flatMap(entry -> entry.getValue().stream().map(partition -> new TaskId(entry.getKey(), partition)))
            .sorted().map(TaskId::toString).collect(Collectors.joining("+"));
    }

    static String text(TasksTupleWithEpochs tasks) {
        String active = tasks.activeTasksWithEpochs().entrySet().stream()
            .flatMap(entry -> entry.getValue().entrySet().stream().map(each -> Map.entry(new TaskId(entry.getKey(), each.getKey()), each.getValue())))
            .sorted(Map.Entry.comparingByKey()).map(each -> each.getKey() + "@" + each.getValue()).collect(Collectors.joining("+"));
        return active + "/" + text(tasks.standbyTasks()) + "/" + text(tasks.warmupTasks());
    }
}
