import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.TrackingInfo;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Lettuce's cache, which needs RESP3 and CLIENT TRACKING. */
final class LettuceTest {
    private static final RedisClient CLIENT = RedisClient.create(RedisURI.create("127.0.0.1", Checks.PORT));
    private static final RedisCommands<String, String> ADMIN = CLIENT.connect().sync();

    private LettuceTest() {
    }

    /** How many GETs the server has run. */
    private static String gets() {
        return ADMIN.info("commandstats").replaceAll("(?s).*cmdstat_get:calls=(\\d+).*", "$1");
    }

    private static void checkCache(TrackingArgs tracking) throws Exception {
        try (StatefulRedisConnection<String, String> connection = CLIENT.connect()) {
            CacheFrontend<String, String> cache = ClientSideCaching.enable(
                CacheAccessor.forMap(new ConcurrentHashMap<>()), connection, tracking);
            Checks.equal(cache.get("k"), null);
            ADMIN.set("k", "1");
            Checks.equal(cache.get("k"), "1");
            String before = gets();
            for (int i = 0; i < 10; i++) {
                Checks.equal(cache.get("k"), "1");
            }
            Checks.equal(gets(), before);
            ADMIN.set("k", "2");
            Checks.waitUntil(() -> "2".equals(cache.get("k")));
            ADMIN.del("k");
            Checks.waitUntil(() -> cache.get("k") == null);
            Checks.equal(cache.get("j", () -> "computed"), "computed");
            Checks.equal(ADMIN.get("j"), "computed");
            ADMIN.set("j", "other");
            Checks.waitUntil(() -> "other".equals(cache.get("j")));
        }
    }

    private static void keysThatWereRead(ProtocolVersion protocol) throws Exception {
        checkCache(TrackingArgs.Builder.enabled());
    }

    private static void prefixes(ProtocolVersion protocol) throws Exception {
        checkCache(TrackingArgs.Builder.enabled().bcast().prefixes("k", "j"));
    }

    private static void itsSettings(ProtocolVersion protocol) {
        try (StatefulRedisConnection<String, String> connection = CLIENT.connect()) {
            RedisCommands<String, String> commands = connection.sync();
            commands.clientTracking(TrackingArgs.Builder.enabled().optin().noloop());
            TrackingInfo info = commands.clientTrackinginfo();
            Checks.equal(info.getFlags(), Set.of(TrackingInfo.TrackingFlag.ON, TrackingInfo.TrackingFlag.OPTIN,
                TrackingInfo.TrackingFlag.NOLOOP));
            Checks.equal(List.of(info.getRedirect(), info.getPrefixes()), List.of(0L, List.of()));
        }
    }

    public static void main(String[] arguments) {
        Checks<ProtocolVersion> checks = new Checks<>(List.of(ProtocolVersion.RESP3));
        checks.add("keys that were read are kept, and the writes of others are seen", LettuceTest::keysThatWereRead);
        checks.add("the same with prefixes (BCAST)", LettuceTest::prefixes);
        checks.add("the server tells the settings", LettuceTest::itsSettings);
        checks.run(ADMIN::flushall);
    }
}
