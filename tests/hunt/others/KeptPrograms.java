import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Runs the main method of a class, again and again, in one virtual machine. Argument: the class.
 *
 * <p>Commands are lines of standard input, and each has one line of standard output as its response: "start", with a file for the
 * output of the program and its arguments behind it, separated by tabs; "status": "running", or "ended" when the program has no thread left that would
 * keep its virtual machine alive; "stop": runs the shutdown hooks of the program, as SIGTERM does, and responds "clean" if no
 * thread of it is left.
 */
public class KeptPrograms {
    static final String RESPONSE = "response: ";
    static final long STOP_MS_MAX = 20_000;
    static final long PAUSE_MS = 20;

    private final Method main;
    private final Map<Thread, Thread> hooks;
    private Set<Thread> before = Set.of();
    private Set<Thread> hooksBefore = Set.of();

    KeptPrograms(String name) throws ReflectiveOperationException {
        main = Class.forName(name).getMethod("main", String[].class);
        var field = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks");
        field.setAccessible(true);
        @SuppressWarnings("unchecked")
        var all = (IdentityHashMap<Thread, Thread>) field.get(null);
        hooks = all;
    }

    public static void main(String[] arguments) throws Exception {
        var responses = System.out;
        var kept = new KeptPrograms(arguments[0]);
        var commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            var words = line.split("\t");
            switch (words[0]) {
                case "start" -> kept.start(words[1], Arrays.copyOfRange(words, 2, words.length));
                case "stop" -> kept.stop();
                default -> { }
            }
            // The virtual machine prints warnings of its own there, too.
            responses.println(RESPONSE + (words[0].equals("stop") ? kept.left() : kept.isAlive() ? "running" : "ended"));
        }
        System.exit(0);
    }

    private void start(String log, String[] arguments) throws FileNotFoundException {
        var output = new PrintStream(new FileOutputStream(log, true), true);
        System.setOut(output);
        System.setErr(output);
        before = Thread.getAllStackTraces().keySet();
        hooksBefore = new HashSet<>(hooks.keySet());
        var program = new Thread(() -> {
            try {
                main.invoke(null, (Object) arguments);
            } catch (ReflectiveOperationException error) {
                error.printStackTrace();
            }
        }, "main");
        program.start();
    }

    private void stop() throws InterruptedException {
        var own = new HashSet<>(hooks.keySet());
        own.removeAll(hooksBefore);
        hooks.keySet().removeAll(own);
        // A hook that a library keeps, and adds again in each run, may have been started before: its body is run in another thread.
        var runs = own.stream().map(Thread::new).toList();
        runs.forEach(Thread::start);
        long end = System.currentTimeMillis() + STOP_MS_MAX;
        for (Thread run : runs) {
            run.join(Math.max(1, end - System.currentTimeMillis()));
        }
        while (isAlive() && System.currentTimeMillis() < end) {
            Thread.sleep(PAUSE_MS);
        }
    }

    /** Whether the program has a thread that would keep its virtual machine alive. */
    private boolean isAlive() {
        return ownThreads().stream().anyMatch(thread -> !thread.isDaemon());
    }

    private String left() {
        var own = ownThreads();
        own.removeIf(thread -> thread.isDaemon() && !thread.getName().contains("kafka"));
        own.forEach(thread -> System.err.println("[left: " + thread.getName() + "]"));
        return own.isEmpty() ? "clean" : "left";
    }

    private Set<Thread> ownThreads() {
        var own = new HashSet<>(Thread.getAllStackTraces().keySet());
        own.removeAll(before);
        own.removeIf(thread -> thread.getName().equals("DestroyJavaVM") || !thread.isAlive());
        return own;
    }
}
