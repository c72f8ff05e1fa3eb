import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.AutoClaimResult;
import org.redisson.api.RStream;
import org.redisson.api.RedissonClient;
import org.redisson.api.StreamMessageId;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.api.stream.StreamCreateGroupArgs;
import org.redisson.api.stream.StreamMultiReadGroupArgs;
import org.redisson.api.stream.StreamReadArgs;
import org.redisson.api.stream.StreamReadGroupArgs;
import org.redisson.api.stream.StreamTrimArgs;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Redisson's stream: workers of a consumer group, the producer, and checks of what a stream and its groups tell. */
public final class StreamTest {
    private static final String GROUP = "workers";
    private static final int IDLE_MS = 5000; // a worker claims what another has had for so long

    private static RStream<String, String> stream(RedissonClient client, String name) {
        return client.getStream(name, StringCodec.INSTANCE);
    }

    /** Whoever comes first creates the group; it is given all entries from the first one on. */
    private static void declare(RStream<String, String> stream) {
        try {
            stream.createGroup(StreamCreateGroupArgs.name(GROUP).id(StreamMessageId.ALL).makeStream());
        } catch (RedisException e) {
            if (!e.getMessage().contains("BUSYGROUP")) {
                throw e;
            }
        }
    }

    /** What a consumer does until it is stopped: a job that fails remains pending, and is claimed later. */
    private static void consume(RStream<String, String> stream, String consumer) {
        StreamReadGroupArgs next = StreamReadGroupArgs.neverDelivered().count(1).timeout(Duration.ofMillis(200));
        try {
            while (true) {
                Map<StreamMessageId, Map<String, String>> entries = stream.readGroup(GROUP, consumer, next);
                if (entries.isEmpty()) {
                    entries = stream.autoClaim(GROUP, consumer, IDLE_MS, TimeUnit.MILLISECONDS, StreamMessageId.MIN, 1)
                        .getMessages();
                }
                for (Map.Entry<StreamMessageId, Map<String, String>> one : entries.entrySet()) {
                    Map<String, String> job = one.getValue();
                    if (Job.perform(Integer.parseInt(job.get("n")), job.get("kind"))) {
                        stream.ack(GROUP, one.getKey());
                    }
                }
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void work(RedissonClient client) throws InterruptedException {
        RStream<String, String> stream = stream(client, "jobs");
        declare(stream);
        Thread thread = null;
        for (int i = 0; i < Job.concurrency(); i++) {
            String consumer = ProcessHandle.current().pid() + ":" + i;
            thread = new Thread(() -> consume(stream, consumer));
            thread.start();
        }
        thread.join();
    }

    private static void produce(RedissonClient client) throws IOException {
        RStream<String, String> stream = stream(client, "jobs");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode job = new ObjectMapper().readTree(line);
            stream.add(StreamAddArgs.entries("n", job.get("n").asText(), "kind", job.get("kind").asText()));
        }
    }

    private static void checkStream(RStream<String, String> stream) {
        for (int i = 1; i <= 5; i++) {
            stream.add(new StreamMessageId(i), StreamAddArgs.entry("n", Integer.toString(i)));
        }
        Job.verdict("entries are read from an id on",
            stream.read(StreamReadArgs.greaterThan(new StreamMessageId(3))).size() == 2);
        Map<StreamMessageId, Map<String, String>> last =
            stream.rangeReversed(1, StreamMessageId.MAX, StreamMessageId.MIN);
        Job.verdict("a range is read in either order",
            stream.range(new StreamMessageId(2), new StreamMessageId(4)).size() == 3
            && last.keySet().equals(Set.of(new StreamMessageId(5))));
        Job.verdict("an entry is removed", stream.remove(new StreamMessageId(2)) == 1 && stream.size() == 4);
        Job.verdict("a stream tells its bounds", stream.getInfo().getLastGeneratedId().getId0() == 5
            && stream.getInfo().getFirstEntry().getId().getId0() == 1);
        Job.verdict("a stream is trimmed", stream.trim(StreamTrimArgs.maxLen(3).noLimit()) == 1);
    }

    private static void checkGroup(RStream<String, String> stream) {
        declare(stream);
        StreamMultiReadGroupArgs next = StreamMultiReadGroupArgs.greaterThan(StreamMessageId.NEVER_DELIVERED,
            Map.of("other", StreamMessageId.NEVER_DELIVERED)).count(2);
        Job.verdict("entries of several streams are read",
            stream.readGroup(GROUP, "first", next).get("notes").size() == 2);
        StreamMessageId id = new StreamMessageId(3);
        Job.verdict("what is pending is told", stream.getPendingInfo(GROUP).getConsumerNames().get("first") == 2
            && stream.listPending(GROUP, StreamMessageId.MIN, StreamMessageId.MAX, 10).get(0).getId().equals(id));
        List<StreamMessageId> fast = stream.fastClaim(GROUP, "second", 0, TimeUnit.MILLISECONDS, id);
        Job.verdict("an entry is claimed", fast.equals(List.of(id)));
        AutoClaimResult<String, String> rest = stream.autoClaim(GROUP, "second", 0, TimeUnit.MILLISECONDS,
            new StreamMessageId(4), 10);
        Job.verdict("what others have is claimed", rest.getMessages().size() == 1);
        Job.verdict("an entry is acknowledged once", stream.ack(GROUP, id) == 1 && stream.ack(GROUP, id) == 0);
        Job.verdict("consumers and groups are listed", stream.listConsumers(GROUP).size() == 2
            && stream.listGroups().get(0).getPending() == 1);
        Job.verdict("a consumer is removed with what it had", stream.removeConsumer(GROUP, "second") == 1);
        stream.removeGroup(GROUP);
        Job.verdict("a group is removed", stream.listGroups().isEmpty());
    }

    private static void check(RedissonClient client) {
        RStream<String, String> notes = stream(client, "notes");
        checkStream(notes);
        declare(stream(client, "other"));
        checkGroup(notes);
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + Job.PORT);
        RedissonClient client = Redisson.create(config);
        switch (arguments[0]) {
            case "work" -> work(client);
            case "produce" -> produce(client);
            default -> check(client);
        }
        client.shutdown();
    }
}
