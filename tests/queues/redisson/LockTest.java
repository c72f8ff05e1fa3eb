import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's lock: a holder that counts (lib/harness.py), and what the lock promises within one process. */
public final class LockTest {
    private static final Path FOLDER = Path.of(System.getenv("QUEUE_FOLDER"));
    private static final int MOMENT_MS = 2;
    private static final int LEASE_MS = 10_000; // the lock of a killed holder is free so much later

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

    /** Returns false when there is nothing left to count. */
    private static boolean count() throws IOException, InterruptedException {
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

    /** A lock without a time is renewed by its holder's watchdog as long as the holder lives. */
    private static void work(RedissonClient client) throws IOException, InterruptedException {
        RLock lock = client.getLock("lock");
        boolean more = true;
        while (more) {
            lock.lock();
            try {
                more = count();
            } finally {
                lock.unlock();
            }
        }
    }

    private static void verdict(String name, boolean holds) {
        System.out.println((holds ? "ok - " : "not ok - ") + name);
    }

    private static <T> T elsewhere(Supplier<T> action) throws InterruptedException {
        Object[] result = new Object[1];
        Thread thread = new Thread(() -> result[0] = action.get());
        thread.start();
        thread.join();
        @SuppressWarnings("unchecked")
        T value = (T) result[0];
        return value;
    }

    private static boolean tryLock(RLock lock) {
        try {
            return lock.tryLock(0, 60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean unlockFails(RLock lock) {
        try {
            lock.unlock();
            return false;
        } catch (IllegalMonitorStateException e) {
            return true;
        }
    }

    private static void check(RedissonClient client) throws InterruptedException {
        RLock lock = client.getLock("mine");
        verdict("a free lock is acquired", tryLock(lock));
        verdict("another thread does not acquire it", !elsewhere(() -> tryLock(lock)));
        verdict("another thread cannot release it", elsewhere(() -> unlockFails(lock)));
        verdict("its holder acquires it again", tryLock(lock) && lock.getHoldCount() == 2);
        lock.unlock();
        verdict("it is held until it is released as often", lock.isLocked());
        CountDownLatch acquired = new CountDownLatch(1);
        Thread waiting = new Thread(() -> {
            lock.lock(60, TimeUnit.SECONDS);
            acquired.countDown();
            lock.unlock();
        });
        waiting.start();
        lock.unlock();
        acquired.await();
        waiting.join();
        verdict("one that waits is notified of the release", !lock.isLocked());
        RLock both = client.getMultiLock(client.getLock("one"), client.getLock("two"));
        both.lock(60, TimeUnit.SECONDS);
        verdict("several locks are held together",
            client.getLock("one").isLocked() && client.getLock("two").isLocked());
        both.unlock();
        verdict("several locks are released together", client.getKeys().countExists("one", "two") == 0);
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Config config = new Config();
        config.setLockWatchdogTimeout(LEASE_MS);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + System.getenv("PACKLIST_PORT"));
        RedissonClient client = Redisson.create(config);
        if (arguments[0].equals("work")) {
            work(client);
        } else {
            check(client);
        }
        client.shutdown();
    }
}
