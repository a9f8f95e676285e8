import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Kafka's command-line tools behind a pipe: one JSON object a line comes in, {"tool": class, "arguments": [...], "input": text}, and one
 * goes out, {"exit": code, "output": text, "errors": text}. Each tool's own main method runs, in one virtual machine for all of them.
 *
 * <p>Run by: java -cp "jars/*" ToolRunner.java
 */
public final class ToolRunner {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** The names of Kafka's class for exits, since 4.4 and before. */
    private static final List<String> EXIT_CLASSES =
        List.of("org.apache.kafka.common.utils.internals.Exit", "org.apache.kafka.common.utils.Exit");

    /** What a tool's exit becomes here: it leaves the tool's main method, unless the tool catches everything. */
    private static final class Exited extends RuntimeException {}

    /** The code of the tool's first exit. Some catch what that throws and exit again, as failed. */
    private static Integer exitCode;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        InvocationHandler exiting = (procedure, method, values) -> {
            throw exited((Integer) values[0]);
        };
        handleExits("setExitProcedure", exiting);
        handleExits("setHaltProcedure", exiting);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(run(JSON.readTree(line)));
        }
    }

    private static JsonNode run(JsonNode asked) throws Exception {
        List<Runnable> hooks = new ArrayList<>();
        handleExits("setShutdownHookAdder", (adder, method, values) -> {
            hooks.add((Runnable) values[1]);
            return null;
        });
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        System.setIn(new ByteArrayInputStream(asked.get("input").asText().getBytes(StandardCharsets.UTF_8)));
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
        exitCode = null;
        call(asked);
        hooks.forEach(Runnable::run);
        return JSON.createObjectNode()
            .put("exit", exitCode == null ? 0 : exitCode)
            .put("output", output.toString(StandardCharsets.UTF_8))
            .put("errors", errors.toString(StandardCharsets.UTF_8));
    }

    /** Call a setter of Kafka's class for exits with an object of the interface that it takes. */
    private static void handleExits(String setter, InvocationHandler handler) throws Exception {
        Method method = Arrays.stream(exitClass().getMethods()).filter(each -> each.getName().equals(setter)).findFirst().orElseThrow();
        Class<?> taken = method.getParameterTypes()[0];
        method.invoke(null, Proxy.newProxyInstance(taken.getClassLoader(), new Class<?>[] {taken}, handler));
    }

    private static Class<?> exitClass() throws ClassNotFoundException {
        for (String name : EXIT_CLASSES) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException missing) {
                // The other name.
            }
        }
        throw new ClassNotFoundException(EXIT_CLASSES.toString());
    }

    private static Exited exited(int code) {
        exitCode = exitCode == null ? code : exitCode;
        return new Exited();
    }

    private static void call(JsonNode asked) throws Exception {
        String[] arguments = JSON.convertValue(asked.get("arguments"), String[].class);
        try {
            Class.forName(asked.get("tool").asText()).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException failure) {
            if (!(failure.getCause() instanceof Exited)) {
                failure.getCause().printStackTrace();
                exitCode = 1;
            }
        }
    }
}
