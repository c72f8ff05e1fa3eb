import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** What a worker written in Java does with a job; lib/harness.py describes it. */
final class Job {
    static final int PORT = Integer.parseInt(System.getenv("PACKLIST_PORT"));
    private static final Path FOLDER = Path.of(System.getenv("QUEUE_FOLDER"));
    private static final int MOMENT_MS = 2;

    private Job() {
    }

    static int concurrency() {
        return Integer.parseInt(System.getenv("QUEUE_CONCURRENCY"));
    }

    private static void note(String word, int n) throws IOException {
        String line = String.format(Locale.ROOT, "%s %d %d %.3f%n", word, n, ProcessHandle.current().pid(),
            System.currentTimeMillis() / 1000.0);
        Files.writeString(FOLDER.resolve("ledger"), line, StandardOpenOption.APPEND);
    }

    private static boolean isFirstAttempt(int n) throws IOException {
        try {
            Files.createFile(FOLDER.resolve("attempt." + n));
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    /** Returns false when the job fails. */
    static boolean perform(int n, String kind) throws IOException, InterruptedException {
        note("began", n);
        boolean first = !kind.equals("plain") && isFirstAttempt(n);
        if (first && kind.equals("fails")) {
            return false;
        }
        Thread.sleep(first ? Long.MAX_VALUE : MOMENT_MS);
        note("done", n);
        return true;
    }

    /** What the holder of a lock does. Returns false when there is nothing left to count. */
    static boolean count() throws IOException, InterruptedException {
        Path counter = FOLDER.resolve("counter");
        int n = Files.exists(counter) ? Integer.parseInt(Files.readString(counter)) : 0;
        if (n == Integer.parseInt(System.getenv("QUEUE_END"))) {
            return false;
        }
        note("began", n);
        boolean hangs = n == Integer.parseInt(System.getenv("QUEUE_HANGS")) && isFirstAttempt(n);
        Thread.sleep(hangs ? Long.MAX_VALUE : MOMENT_MS);
        Files.writeString(counter, Integer.toString(n + 1));
        note("done", n);
        return true;
    }

    /** One line of a program that checks more of its library. */
    static void verdict(String name, boolean holds) {
        System.out.println((holds ? "ok - " : "not ok - ") + name);
    }
}
