import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Jedis over TLS: URLs, certificates of both sides, users. */
final class TlsChecks {
    private static final Path FOLDER = Path.of(System.getenv("PACKLIST_TLS"));
    private static final String PORT = System.getenv("PACKLIST_TLS_PORT");
    private static final char[] PASSWORD = "secret".toCharArray(); // of the .p12 files

    private static SSLSocketFactory sockets(String certificate, String authority) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        try (InputStream file = Files.newInputStream(FOLDER.resolve(authority))) {
            trusted.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        KeyStore own = KeyStore.getInstance("PKCS12");
        own.load(null, null);
        if (certificate != null) {
            try (InputStream file = Files.newInputStream(FOLDER.resolve(certificate + ".p12"))) {
                own.load(file, PASSWORD);
            }
        }
        keys.init(own, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context.getSocketFactory();
    }

    /** {@code user} is empty, or a name and a password as in a URL. */
    private static Jedis connect(RedisProtocol protocol, String user, String certificate, String authority)
        throws Exception {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // checks the name, too
        URI uri = URI.create("rediss://" + user + "localhost:" + PORT + "/5?protocol=" + protocol.version());
        return new Jedis(uri, sockets(certificate, authority), parameters, null);
    }

    private static boolean pings(RedisProtocol protocol, String certificate) throws Exception {
        try (Jedis jedis = connect(protocol, "", certificate, "ca.crt")) {
            return jedis.ping().equals("PONG");
        } catch (JedisConnectionException e) {
            return false;
        }
    }

    private static void aUrlLeadsThere(RedisProtocol protocol) throws Exception {
        byte[] bytes = new byte[1_000_000];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        try (Jedis jedis = connect(protocol, "", null, "ca.crt"); Jedis plain = JedisTest.connect(protocol)) {
            jedis.set("k".getBytes(), bytes);
            Checks.equal(Arrays.equals(jedis.get("k".getBytes()), bytes), true);
            Checks.equal(List.of(jedis.dbSize(), plain.dbSize()), List.of(1L, 0L));
            Pipeline pipeline = jedis.pipelined();
            for (int i = 0; i < 5000; i++) {
                pipeline.rpush("l", "x");
            }
            Checks.equal(pipeline.syncAndReturnAll().get(4999), 5000L);
        }
    }

    private static void anUntrustedServer(RedisProtocol protocol) {
        Checks.fails(JedisConnectionException.class, "", () -> connect(protocol, "", null, "other-ca.crt").ping());
    }

    private static void certificatesOfClients(RedisProtocol protocol) throws Exception {
        try (Jedis plain = JedisTest.connect(protocol)) {
            plain.configSet("tls-auth-clients", "yes");
            Checks.equal(List.of(pings(protocol, "client"), pings(protocol, null), pings(protocol, "stranger")),
                List.of(true, false, false));
            plain.configSet("tls-auth-clients", "optional"); // Java shows none that the server would not trust
            Checks.equal(List.of(pings(protocol, "client"), pings(protocol, null)), List.of(true, true));
            plain.configSet("tls-auth-clients", "no");
        }
    }

    private static void aUrlNamesAUser(RedisProtocol protocol) throws Exception {
        try (Jedis jedis = connect(protocol, "tls-user:secret@", null, "ca.crt")) {
            Checks.equal(jedis.aclWhoAmI(), "tls-user");
        }
        Checks.fails(JedisAccessControlException.class, "WRONGPASS",
            () -> connect(protocol, "tls-user:wrong@", null, "ca.crt").ping());
    }

    static void addTo(Checks<RedisProtocol> checks) {
        checks.add("a URL leads to the port for TLS, and all comes back", TlsChecks::aUrlLeadsThere);
        checks.add("a server whose authority is not trusted is refused", TlsChecks::anUntrustedServer);
        checks.add("clients are asked for certificates", TlsChecks::certificatesOfClients);
        checks.add("a URL over TLS names a user and its password", TlsChecks::aUrlNamesAUser);
    }

    private TlsChecks() {}
}
