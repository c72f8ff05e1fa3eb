package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"

	"github.com/redis/go-redis/v9"
)

func tlsFile(name string) string {
	return filepath.Join(os.Getenv("PACKLIST_TLS"), name)
}

// overTLS is a client that has not connected yet. user is empty, or a name and a password as in a URL; certificate is
// empty, or the name of a client's.
func overTLS(r *redis.Client, user, certificate, authority string) *redis.Client {
	options := must(redis.ParseURL("rediss://" + user + "localhost:" + os.Getenv("PACKLIST_TLS_PORT") + "/5"))
	options.Protocol = r.Options().Protocol
	options.MaxRetries = -1
	options.TLSConfig.RootCAs = x509.NewCertPool()
	equal(options.TLSConfig.RootCAs.AppendCertsFromPEM(must(os.ReadFile(tlsFile(authority)))), true)
	if certificate != "" {
		pair := must(tls.LoadX509KeyPair(tlsFile(certificate+".crt"), tlsFile(certificate+".key")))
		options.TLSConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &pair, nil // whichever authorities the server names
		}
	}
	return redis.NewClient(options)
}

// pings says whether a client with that certificate is let in.
func pings(ctx context.Context, r *redis.Client, certificate string) bool {
	client := overTLS(r, "", certificate, "ca.crt")
	defer client.Close()
	return client.Ping(ctx).Err() == nil
}

func urlOverTLS(ctx context.Context, r *redis.Client) {
	client := overTLS(r, "", "", "ca.crt")
	defer client.Close()
	bytes := make([]byte, 1000000)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	must(client.Set(ctx, "k", bytes, 0).Result())
	equal(must(client.Get(ctx, "k").Bytes()), bytes)
	equal([]int64{must(client.DBSize(ctx).Result()), must(r.DBSize(ctx).Result())}, []int64{1, 0})
	pipelineInOrder(ctx, client)
}

func untrustedServer(ctx context.Context, r *redis.Client) {
	client := overTLS(r, "", "", "other-ca.crt")
	defer client.Close()
	isError(client.Ping(ctx).Err(), "certificate signed by unknown authority")
}

func clientCertificates(ctx context.Context, r *redis.Client) {
	defer r.ConfigSet(ctx, "tls-auth-clients", "no")
	must(r.ConfigSet(ctx, "tls-auth-clients", "yes").Result())
	equal([]bool{pings(ctx, r, "client"), pings(ctx, r, ""), pings(ctx, r, "stranger")}, []bool{true, false, false})
	must(r.ConfigSet(ctx, "tls-auth-clients", "optional").Result())
	equal([]bool{pings(ctx, r, "client"), pings(ctx, r, ""), pings(ctx, r, "stranger")}, []bool{true, true, false})
}

func userOverTLS(ctx context.Context, r *redis.Client) {
	client := overTLS(r, "tls-user:secret@", "", "ca.crt")
	defer client.Close()
	equal(must(client.Do(ctx, "ACL", "WHOAMI").Text()), "tls-user")
	wrong := overTLS(r, "tls-user:wrong@", "", "ca.crt")
	defer wrong.Close()
	isError(wrong.Ping(ctx).Err(), "WRONGPASS")
}
