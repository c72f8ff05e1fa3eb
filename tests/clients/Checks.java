import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Named checks that are run one after the other, each in all of the protocols. */
final class Checks<P> {
    static final int PORT = Integer.parseInt(System.getenv("PACKLIST_PORT"));
    static final int PATIENCE_SECONDS = System.getenv("PACKLIST_SLOW") == null ? 20 : 60;

    interface Body<P> {
        void run(P protocol) throws Exception;
    }

    private record Check<P>(String name, Body<P> body) {}

    private final List<P> protocols;
    private final List<Check<P>> checks = new ArrayList<>();

    Checks(List<P> protocols) {
        this.protocols = protocols;
    }

    void add(String name, Body<P> body) {
        checks.add(new Check<>(name, body));
    }

    /** Runs all checks after {@code prepare}, prints the sum, and ends the process. */
    void run(Runnable prepare) {
        int passed = 0;
        int failed = 0;
        for (P protocol : protocols) {
            for (Check<P> check : checks) {
                prepare.run();
                try {
                    check.body.run(protocol);
                    passed++;
                } catch (Exception | AssertionError e) {
                    failed++;
                    System.out.println("FAILED: " + check.name + " (" + protocol + ")");
                    e.printStackTrace(System.out);
                }
            }
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    static void equal(Object got, Object wanted) {
        if (!Objects.equals(got, wanted)) {
            throw new AssertionError("got " + got + ", wanted " + wanted);
        }
    }

    static void fails(Class<? extends Exception> kind, String text, Callable<?> call) {
        Object got;
        try {
            got = call.call();
        } catch (Exception e) {
            if (!kind.isInstance(e) || !e.getMessage().contains(text)) {
                throw new AssertionError("got " + e + ", wanted " + text, e);
            }
            return;
        }
        throw new AssertionError("got " + got + ", wanted " + text);
    }

    static void waitUntil(Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.call()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("waited in vain");
            }
            Thread.sleep(5);
        }
    }

    /** Starts a call in a thread of its own; it does not hold the process. */
    static <T> CompletableFuture<T> start(Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(call.call());
            } catch (Exception | AssertionError e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    static <T> T resultOf(CompletableFuture<T> started) throws Exception {
        return started.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
}
