// The caches of go-redis and rueidis, which need RESP3 and CLIENT TRACKING. Both need a newer Go than go_redis does.
package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

var address = "127.0.0.1:" + os.Getenv("PACKLIST_PORT")

// admin changes keys and looks at the server; it has no cache.
var admin = redis.NewClient(&redis.Options{Addr: address})

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func equal[T comparable](got, wanted T) {
	if got != wanted {
		panic(fmt.Sprintf("got %#v, wanted %#v", got, wanted))
	}
}

func patience() time.Duration {
	if os.Getenv("PACKLIST_SLOW") != "" {
		return time.Minute
	}
	return 20 * time.Second
}

func waitUntil(condition func() bool) {
	for deadline := time.Now().Add(patience()); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			panic("waited in vain")
		}
	}
}

// gets counts the GETs that the server has run.
func gets(ctx context.Context) int {
	info := must(admin.Info(ctx, "commandstats").Result())
	found := regexp.MustCompile(`cmdstat_get:calls=(\d+)`).FindStringSubmatch(info)
	if found == nil {
		return 0
	}
	return must(strconv.Atoi(found[1]))
}

// cutOff closes all connections but the admin's.
func cutOff(ctx context.Context) {
	must(admin.ClientKillByFilter(ctx, "SKIPME", "yes", "TYPE", "normal").Result())
}

// checkCache tries a client that reads a key with its cache.
func checkCache(ctx context.Context, read func() string) {
	must(admin.Set(ctx, "k", "1", 0).Result())
	waitUntil(func() bool { return read() == "1" })
	waitUntil(func() bool { // the first reads may miss
		before := gets(ctx)
		for i := 0; i < 10; i++ {
			equal(read(), "1")
		}
		return gets(ctx) == before
	})
	must(admin.Set(ctx, "k", "2", 0).Result())
	waitUntil(func() bool { return read() == "2" })
	must(admin.FlushAll(ctx).Result())
	waitUntil(func() bool { return read() == "" })
	must(admin.Set(ctx, "k", "3", 0).Result())
	waitUntil(func() bool { return read() == "3" })
	cutOff(ctx)
	must(admin.Set(ctx, "k", "4", 0).Result())
	waitUntil(func() bool { return read() == "4" })
}

func goRedis(ctx context.Context) {
	client := redis.NewClient(&redis.Options{Addr: address, Protocol: 3,
		ClientSideCacheConfig: &redis.ClientSideCacheConfig{MaxEntries: 100}})
	defer client.Close()
	checkCache(ctx, func() string {
		value, err := client.Get(ctx, "k").Result()
		if err != nil {
			return "" // there is no key, or the connection was cut off
		}
		return value
	})
}

func rueidisOptIn(ctx context.Context) {
	client := must(rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}}))
	defer client.Close()
	checkCache(ctx, func() string {
		value, _ := client.DoCache(ctx, client.B().Get().Key("k").Cache(), time.Minute).ToString()
		return value
	})
}

func rueidisBroadcast(ctx context.Context) {
	client := must(rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address},
		ClientTrackingOptions: []string{"PREFIX", "k", "PREFIX", "j", "BCAST"}}))
	defer client.Close()
	checkCache(ctx, func() string {
		value, _ := client.DoCache(ctx, client.B().Get().Key("k").Cache(), time.Minute).ToString()
		return value
	})
}

func rueidisManyKeys(ctx context.Context) {
	client := must(rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}}))
	defer client.Close()
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("key:%d", i)
		must(admin.Set(ctx, keys[i], i, 0).Result())
	}
	for round := 0; round < 2; round++ {
		values := must(rueidis.MGetCache(client, ctx, time.Minute, keys))
		equal(len(values), len(keys))
		for i, key := range keys {
			message := values[key]
			equal(must(message.ToString()), strconv.Itoa(i))
			equal(message.IsCacheHit(), round == 1)
		}
	}
}

var checks = []struct {
	name string
	run  func(ctx context.Context)
}{
	{"go-redis: a cached read, another client's write, a lost connection", goRedis},
	{"rueidis with its default options", rueidisOptIn},
	{"rueidis with prefixes (BCAST)", rueidisBroadcast},
	{"rueidis: many keys at once", rueidisManyKeys},
}

// passes runs a check on an empty server.
func passes(name string, run func(ctx context.Context)) (passed bool) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Printf("==== %s  FAILED\n%v\n", name, problem)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience())
	defer cancel()
	must(admin.FlushAll(ctx).Result())
	run(ctx)
	return true
}

func main() {
	failed := 0
	for _, one := range checks {
		if !passes(one.name, one.run) {
			failed++
		}
	}
	fmt.Printf("%d passed, %d failed\n", len(checks)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
