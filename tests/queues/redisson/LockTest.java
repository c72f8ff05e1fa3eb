import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's lock: a holder that counts (lib/harness.py), and what the lock promises within one process. */
public final class LockTest {
    private static final int LEASE_MS = 10_000; // the lock of a killed holder is free so much later

    /** A lock without a time is renewed by its holder's watchdog as long as the holder lives. */
    private static void work(RedissonClient client) throws IOException, InterruptedException {
        RLock lock = client.getLock("lock");
        boolean more = true;
        while (more) {
            lock.lock();
            try {
                more = Job.count();
            } finally {
                lock.unlock();
            }
        }
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
        Job.verdict("a free lock is acquired", tryLock(lock));
        Job.verdict("another thread does not acquire it", !elsewhere(() -> tryLock(lock)));
        Job.verdict("another thread cannot release it", elsewhere(() -> unlockFails(lock)));
        Job.verdict("its holder acquires it again", tryLock(lock) && lock.getHoldCount() == 2);
        lock.unlock();
        Job.verdict("it is held until it is released as often", lock.isLocked());
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
        Job.verdict("one that waits is notified of the release", !lock.isLocked());
        RLock both = client.getMultiLock(client.getLock("one"), client.getLock("two"));
        both.lock(60, TimeUnit.SECONDS);
        Job.verdict("several locks are held together",
            client.getLock("one").isLocked() && client.getLock("two").isLocked());
        both.unlock();
        Job.verdict("several locks are released together", client.getKeys().countExists("one", "two") == 0);
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Config config = new Config();
        config.setLockWatchdogTimeout(LEASE_MS);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + Job.PORT);
        RedissonClient client = Redisson.create(config);
        if (arguments[0].equals("work")) {
            work(client);
        } else {
            check(client);
        }
        client.shutdown();
    }
}
