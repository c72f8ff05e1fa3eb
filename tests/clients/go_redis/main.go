// go-redis against the server, in RESP2 and RESP3.
package main

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var checks = []check{
	{"a client names itself and its library", namesItself},
	{"a URL leads to a unix socket", urlOfUnixSocket},
	{"what is sent comes back, byte for byte", bytesComeBack},
	{"strings, keys and their expiry", stringsAndExpiry},
	{"lists", lists},
	{"sorted sets", sortedSets},
	{"hashes and their fields, which may expire", hashes},
	{"sets", sets},
	{"members and fields are scanned", membersAreScanned},
	{"a small pool serves a hundred goroutines", poolServes},
	{"a connection that was cut off is opened again", cutOffReopens},
	{"a pipeline answers in order", pipelineInOrder},
	{"a transaction runs as one", transactionRuns},
	{"a watched key that changed stops the transaction", watchStops},
	{"optimistic transactions lose no count", watchCounts},
	{"blocking pops wait for an element, or in vain", blockingPops},
	{"blocking pops wait for a member of a sorted set", blockingPopsOfMembers},
	{"blocked workers share the jobs", workersShare},
	{"messages reach channels, patterns and shard channels", messagesReach},
	{"a subscription survives the loss of its connection", subscriptionSurvives},
	{"keyspace events", keyspaceEvents},
	{"keys are scanned", keysAreScanned},
	{"a lock is held by one until it runs out", lockRunsOut},
	{"the figures and switches of operators are understood", operators},
	{"a URL leads to the port for TLS, and all comes back", urlOverTLS},
	{"a server whose authority is not trusted is refused", untrustedServer},
	{"clients are asked for certificates", clientCertificates},
	{"a URL over TLS names a user and its password", userOverTLS},
}

func namesItself(ctx context.Context, r *redis.Client) {
	equal(must(r.ClientGetName(ctx).Result()), "worker")
	info := must(r.ClientInfo(ctx).Result())
	equal(strings.HasPrefix(info.LibName, "go-redis"), true)
	equal(info.Resp, r.Options().Protocol)
	other := redis.NewClient(&redis.Options{Addr: address, DB: 3, Protocol: r.Options().Protocol})
	defer other.Close()
	must(other.Set(ctx, "k", "v", 0).Result())
	equal([]int64{must(other.DBSize(ctx).Result()), must(r.DBSize(ctx).Result())}, []int64{1, 0})
}

func urlOfUnixSocket(ctx context.Context, r *redis.Client) {
	path := must(r.ConfigGet(ctx, "unixsocket").Result())["unixsocket"]
	options := must(redis.ParseURL("unix://" + path + "?db=5"))
	options.Protocol = r.Options().Protocol
	client := redis.NewClient(options)
	defer client.Close()
	must(client.Set(ctx, "k", "v", 0).Result())
	info := must(client.ClientInfo(ctx).Result())
	equal([]interface{}{info.Addr, info.DB}, []interface{}{path + ":0", 5})
	equal([]int64{must(client.DBSize(ctx).Result()), must(r.DBSize(ctx).Result())}, []int64{1, 0})
}

func bytesComeBack(ctx context.Context, r *redis.Client) {
	bytes := make([]byte, 100000)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	must(r.Set(ctx, "\x00\r\n\xff", bytes, 0).Result())
	equal(must(r.Get(ctx, "\x00\r\n\xff").Bytes()), bytes)
}

func stringsAndExpiry(ctx context.Context, r *redis.Client) {
	equal(must(r.SetNX(ctx, "k", 1, 100*time.Second).Result()), true)
	equal(must(r.SetNX(ctx, "k", 2, 0).Result()), false)
	equal(must(r.Incr(ctx, "k").Result()), 2)
	equal(must(r.IncrByFloat(ctx, "k", 0.5).Result()), 2.5)
	left := must(r.TTL(ctx, "k").Result())
	equal(left > 90*time.Second && left <= 100*time.Second, true)
	equal(must(r.ExpireLT(ctx, "k", time.Minute).Result()), true)
	equal(must(r.Persist(ctx, "k").Result()), true)
	equal(must(r.TTL(ctx, "k").Result()), time.Duration(-1))
	must(r.MSet(ctx, "a", "1", "b", "2").Result())
	equal(must(r.MGet(ctx, "a", "nosuch", "b").Result()), []interface{}{"1", nil, "2"})
	equal(must(r.Rename(ctx, "a", "c").Result()), "OK")
	equal(must(r.Copy(ctx, "c", "d", 0, false).Result()), 1)
	equal(must(r.Del(ctx, "b", "c").Result()), 2)
	must(r.Set(ctx, "soon", "v", 20*time.Millisecond).Result())
	waitUntil(func() bool { return r.Exists(ctx, "soon").Val() == 0 })
	isNil(r.Get(ctx, "soon").Err())
	isError(r.RPush(ctx, "k", "x").Err(), "WRONGTYPE")
	isError(r.Do(ctx, "NOSUCH", "k").Err(), "unknown command 'NOSUCH'")
}

func lists(ctx context.Context, r *redis.Client) {
	equal(must(r.RPush(ctx, "l", "a", "b", "c", "d").Result()), 4)
	equal(must(r.LPop(ctx, "l").Result()), "a")
	equal(must(r.RPopCount(ctx, "l", 2).Result()), []string{"d", "c"})
	isNil(r.LPopCount(ctx, "nosuch", 2).Err())
	equal(must(r.LInsertAfter(ctx, "l", "b", "x").Result()), 2)
	equal(must(r.LPosCount(ctx, "l", "x", 0, redis.LPosArgs{}).Result()), []int64{1})
	equal(must(r.LMove(ctx, "l", "m", "LEFT", "RIGHT").Result()), "b")
	key, elements, err := r.LMPop(ctx, "LEFT", 5, "nosuch", "m").Result()
	equal([]interface{}{key, elements, err}, []interface{}{"m", []string{"b"}, nil})
	must(r.RPush(ctx, "numbers", 3, 1, 2).Result())
	equal(must(r.Sort(ctx, "numbers", &redis.Sort{Order: "DESC"}).Result()), []string{"3", "2", "1"})
}

func poolServes(ctx context.Context, r *redis.Client) {
	pooled := redis.NewClient(&redis.Options{Addr: address, Protocol: r.Options().Protocol, PoolSize: 4,
		PoolTimeout: patience()})
	defer pooled.Close()
	var group sync.WaitGroup
	for i := 0; i < 100; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			pooled.Set(ctx, fmt.Sprint("k:", i), i, 0)
			pooled.IncrBy(ctx, "sum", must(pooled.Get(ctx, fmt.Sprint("k:", i)).Int64()))
		}(i)
	}
	group.Wait()
	equal(must(r.Get(ctx, "sum").Int64()), 4950)
	equal(pooled.PoolStats().TotalConns <= 4, true)
}

func cutOffReopens(ctx context.Context, r *redis.Client) {
	admin := redis.NewClient(&redis.Options{Addr: address})
	defer admin.Close()
	for i := 0; i < 3; i++ {
		before := must(r.ClientID(ctx).Result())
		equal(must(admin.ClientKillByFilter(ctx, "ID", strconv.FormatInt(before, 10)).Result()), 1)
		equal(must(r.Set(ctx, "k", "v", 0).Result()), "OK")
		equal(must(r.ClientID(ctx).Result()) != before, true)
	}
}

func pipelineInOrder(ctx context.Context, r *redis.Client) {
	commands, err := r.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := 0; i < 5000; i++ {
			pipe.RPush(ctx, "l", i)
		}
		return nil
	})
	equal([]interface{}{len(commands), err}, []interface{}{5000, nil})
	for i, command := range commands {
		equal(command.(*redis.IntCmd).Val(), int64(i+1))
	}
	pipe := r.Pipeline()
	length, wrong, last := pipe.LLen(ctx, "l"), pipe.Incr(ctx, "l"), pipe.LIndex(ctx, "l", -1)
	_, err = pipe.Exec(ctx)
	isError(err, "WRONGTYPE")
	isError(wrong.Err(), "WRONGTYPE")
	equal([]interface{}{length.Val(), last.Val()}, []interface{}{int64(5000), "4999"})
}

func transactionRuns(ctx context.Context, r *redis.Client) {
	var get *redis.StringCmd
	commands, err := r.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "n", 1, 0)
		pipe.Incr(ctx, "n")
		get = pipe.Get(ctx, "n")
		return nil
	})
	equal([]interface{}{len(commands), err, get.Val()}, []interface{}{3, nil, "2"})
	pipe := r.TxPipeline()
	pipe.Set(ctx, "k", "v", 0)
	pipe.Do(ctx, "NOSUCH")
	_, err = pipe.Exec(ctx)
	isError(err, "EXECABORT")
	equal(must(r.Exists(ctx, "k").Result()), 0)
}

func watchStops(ctx context.Context, r *redis.Client) {
	set := func(disturb bool) error {
		return r.Watch(ctx, func(tx *redis.Tx) error {
			if disturb {
				must(r.Set(ctx, "k", "other", 0).Result())
			}
			_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				return pipe.Set(ctx, "k", "mine", 0).Err()
			})
			return err
		}, "k")
	}
	equal(errors.Is(set(true), redis.TxFailedErr), true)
	equal(must(r.Get(ctx, "k").Result()), "other")
	equal(set(false), error(nil))
	equal(must(r.Get(ctx, "k").Result()), "mine")
}

func watchCounts(ctx context.Context, r *redis.Client) {
	var group sync.WaitGroup
	bump := func(tx *redis.Tx) error {
		n, err := tx.Get(ctx, "n").Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			return pipe.Set(ctx, "n", n+1, 0).Err()
		})
		return err
	}
	for i := 0; i < 10; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for done := 0; done < 10 && ctx.Err() == nil; {
				if r.Watch(ctx, bump, "n") == nil {
					done++
				}
			}
		}()
	}
	group.Wait()
	equal(must(r.Get(ctx, "n").Int()), 100)
}

func blockingPops(ctx context.Context, r *redis.Client) {
	isNil(r.BLPop(ctx, time.Second, "q").Err())
	pops := []func() interface{}{
		func() interface{} { return must(r.BLPop(ctx, 0, "p", "q").Result()) },
		func() interface{} { return must(r.BRPop(ctx, patience(), "q").Result()) },
		func() interface{} {
			return []string{"q", must(r.BLMove(ctx, "q", "done", "LEFT", "RIGHT", 0).Result())}
		},
		func() interface{} {
			key, elements, _ := r.BLMPop(ctx, 0, "LEFT", 5, "p", "q").Result()
			return append([]string{key}, elements...)
		},
	}
	for _, pop := range pops {
		answers := make(chan interface{}, 1)
		go func() { answers <- pop() }()
		waitBlocked(ctx, r, 1)
		must(r.RPush(ctx, "q", "job").Result())
		equal(<-answers, interface{}([]string{"q", "job"}))
	}
}

func workersShare(ctx context.Context, r *redis.Client) {
	done := make(chan int, 500)
	for i := 0; i < 5; i++ {
		go func() {
			for {
				item, err := r.BLPop(ctx, patience(), "jobs").Result()
				if err != nil || item[1] == "stop" {
					return
				}
				job, _ := strconv.Atoi(item[1])
				done <- job
			}
		}()
	}
	for i := 0; i < 500; i++ {
		must(r.RPush(ctx, "jobs", i).Result())
	}
	must(r.RPush(ctx, "jobs", "stop", "stop", "stop", "stop", "stop").Result())
	jobs := make([]int, 500)
	for i := range jobs {
		jobs[i] = <-done
	}
	sort.Ints(jobs)
	for i, job := range jobs {
		equal(job, i)
	}
}

func receive(ctx context.Context, subscription *redis.PubSub) []string {
	switch message := must(subscription.Receive(ctx)).(type) {
	case *redis.Subscription:
		return []string{message.Kind, message.Channel, strconv.Itoa(message.Count)}
	case *redis.Message:
		return []string{message.Pattern, message.Channel, message.Payload}
	default:
		return []string{fmt.Sprint(message)}
	}
}

func messagesReach(ctx context.Context, r *redis.Client) {
	subscription := r.Subscribe(ctx, "news")
	defer subscription.Close()
	equal(receive(ctx, subscription), []string{"subscribe", "news", "1"})
	must(0, subscription.PSubscribe(ctx, "n*"))
	equal(receive(ctx, subscription), []string{"psubscribe", "n*", "2"})
	equal(must(r.Publish(ctx, "news", "hello").Result()), 2)
	equal(receive(ctx, subscription), []string{"", "news", "hello"})
	equal(receive(ctx, subscription), []string{"n*", "news", "hello"})
	must(0, subscription.Ping(ctx, "here"))
	equal(receive(ctx, subscription), []string{"Pong<here>"})
	equal(must(r.PubSubChannels(ctx, "*").Result()), []string{"news"})
	equal(must(r.PubSubNumSub(ctx, "news", "none").Result()), map[string]int64{"news": 1, "none": 0})
	equal(must(r.PubSubNumPat(ctx).Result()), 1)
	must(0, subscription.Unsubscribe(ctx))
	equal(receive(ctx, subscription), []string{"unsubscribe", "news", "1"})

	shard := r.SSubscribe(ctx, "news")
	defer shard.Close()
	equal(receive(ctx, shard), []string{"ssubscribe", "news", "1"})
	equal(must(r.SPublish(ctx, "news", "s").Result()), 1)
	equal(receive(ctx, shard), []string{"", "news", "s"})
}

func subscriptionSurvives(ctx context.Context, r *redis.Client) {
	subscription := r.Subscribe(ctx, "news")
	defer subscription.Close()
	messages := subscription.Channel()
	waitUntil(func() bool { return r.Publish(ctx, "news", "first").Val() == 1 })
	equal((<-messages).Payload, "first")
	equal(must(r.ClientKillByFilter(ctx, "TYPE", "pubsub").Result()), 1)
	waitUntil(func() bool { return r.Publish(ctx, "news", "second").Val() == 1 })
	equal((<-messages).Payload, "second")
}

func keyspaceEvents(ctx context.Context, r *redis.Client) {
	must(r.ConfigSet(ctx, "notify-keyspace-events", "KEA").Result())
	defer r.ConfigSet(ctx, "notify-keyspace-events", "")
	subscription := r.PSubscribe(ctx, "__keyevent@0__:*")
	defer subscription.Close()
	receive(ctx, subscription)
	must(r.RPush(ctx, "l", "x").Result())
	must(r.LPop(ctx, "l").Result())
	for _, event := range []string{"rpush", "lpop", "del"} {
		equal(receive(ctx, subscription), []string{"__keyevent@0__:*", "__keyevent@0__:" + event, "l"})
	}
}

func keysAreScanned(ctx context.Context, r *redis.Client) {
	_, err := r.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := 0; i < 1000; i++ {
			pipe.Set(ctx, fmt.Sprint("key:", i), i, 0)
		}
		return nil
	})
	equal(err, nil)
	found := map[string]bool{}
	iterator := r.Scan(ctx, 0, "key:*", 100).Iterator()
	for iterator.Next(ctx) {
		found[iterator.Val()] = true
	}
	equal([]interface{}{len(found), iterator.Err()}, []interface{}{1000, nil})
}

func lockRunsOut(ctx context.Context, r *redis.Client) {
	equal(must(r.SetNX(ctx, "lock", "mine", 200*time.Millisecond).Result()), true)
	equal(must(r.SetNX(ctx, "lock", "yours", time.Second).Result()), false)
	waitUntil(func() bool { return r.SetNX(ctx, "lock", "yours", time.Second).Val() })
	equal(must(r.Get(ctx, "lock").Result()), "yours")
}

func operators(ctx context.Context, r *redis.Client) {
	must(r.RPush(ctx, "l", "a").Result())
	equal(strings.Contains(must(r.Info(ctx).Result()), "\r\nloading:0\r\n"), true)
	equal(must(r.ConfigGet(ctx, "list-max-listpack-*").Result()), map[string]string{"list-max-listpack-size": "-2"})
	equal(must(r.MemoryUsage(ctx, "l").Result()) > 0, true)
	equal(must(r.ObjectEncoding(ctx, "l").Result()), "listpack")
	equal(must(r.Command(ctx).Result())["lpush"].Arity, -3)
	must(r.ConfigSet(ctx, "slowlog-log-slower-than", "0").Result())
	must(r.LLen(ctx, "l").Result())
	must(r.ConfigSet(ctx, "slowlog-log-slower-than", "10000").Result())
	equal(len(must(r.SlowLogGet(ctx, 10).Result())) > 0, true)
	equal(strings.Contains(must(r.ClientList(ctx).Result()), "name=worker"), true)
}
