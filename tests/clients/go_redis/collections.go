package main

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/redis/go-redis/v9"
)

func sorted(values []string) []string {
	sort.Strings(values)
	return values
}

func sortedSets(ctx context.Context, r *redis.Client) {
	equal(must(r.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "a"}, redis.Z{Score: 2.5, Member: "b"},
		redis.Z{Score: 3, Member: "c"}).Result()), 3)
	equal(must(r.ZAddArgs(ctx, "z", redis.ZAddArgs{XX: true, GT: true, Ch: true,
		Members: []redis.Z{{Score: 2, Member: "a"}}}).Result()), 1)
	equal(must(r.ZIncrBy(ctx, "z", 0.5, "b").Result()), 3)
	equal(must(r.ZScore(ctx, "z", "b").Result()), 3)
	isNil(r.ZScore(ctx, "z", "nosuch").Err())
	equal(must(r.ZRangeWithScores(ctx, "z", 0, 1).Result()), []redis.Z{{Score: 2, Member: "a"}, {Score: 3, Member: "b"}})
	equal(must(r.ZRangeArgs(ctx, redis.ZRangeArgs{Key: "z", Start: "(2", Stop: "+inf", ByScore: true, Rev: true,
		Count: 1}).Result()), []string{"c"})
	equal(must(r.ZRank(ctx, "z", "c").Result()), 2)
	equal(must(r.ZCount(ctx, "z", "-inf", "(3").Result()), 1)
	equal(must(r.ZPopMin(ctx, "z").Result()), []redis.Z{{Score: 2, Member: "a"}})
	must(r.ZAdd(ctx, "y", redis.Z{Score: 1, Member: "c"}, redis.Z{Score: 1, Member: "d"}).Result())
	equal(must(r.ZUnionWithScores(ctx, redis.ZStore{Keys: []string{"y", "z"}, Weights: []float64{2, 1}}).Result()),
		[]redis.Z{{Score: 2, Member: "d"}, {Score: 3, Member: "b"}, {Score: 5, Member: "c"}})
	equal(must(r.ZInterStore(ctx, "x", &redis.ZStore{Keys: []string{"y", "z"}}).Result()), 1)
	equal(must(r.ZDiff(ctx, "y", "z").Result()), []string{"d"})
	key, members, err := r.ZMPop(ctx, "max", 5, "nosuch", "y").Result()
	equal([]interface{}{key, len(members), err}, []interface{}{"y", 2, nil})
}

func hashes(ctx context.Context, r *redis.Client) {
	equal(must(r.HSet(ctx, "h", "name", "Anna", "age", 30).Result()), 2)
	equal(must(r.HGetAll(ctx, "h").Result()), map[string]string{"name": "Anna", "age": "30"})
	equal(must(r.HGetAll(ctx, "nosuch").Result()), map[string]string{})
	isNil(r.HGet(ctx, "h", "nosuch").Err())
	equal(must(r.HMGet(ctx, "h", "age", "nosuch").Result()), []interface{}{"30", nil})
	equal(must(r.HIncrBy(ctx, "h", "age", 2).Result()), 32)
	equal(must(r.HIncrByFloat(ctx, "h", "age", 0.5).Result()), 32.5)
	equal(must(r.HSetNX(ctx, "h", "age", 1).Result()), false)
	var person struct {
		Name string  `redis:"name"`
		Age  float64 `redis:"age"`
	}
	must(0, r.HGetAll(ctx, "h").Scan(&person))
	equal(person.Name, "Anna")
	equal(person.Age, 32.5)
	equal(must(r.HExpire(ctx, "h", 100*time.Second, "name", "nosuch").Result()), []int64{1, -2})
	equal(must(r.HPersist(ctx, "h", "name").Result()), []int64{1})
	must(r.HPExpire(ctx, "h", 20*time.Millisecond, "age").Result())
	waitUntil(func() bool { return r.HLen(ctx, "h").Val() == 1 })
	equal(must(r.HKeys(ctx, "h").Result()), []string{"name"})
	equal(must(r.HGetDel(ctx, "h", "name").Result()), []string{"Anna"})
	equal(must(r.Exists(ctx, "h").Result()), 0)
}

func sets(ctx context.Context, r *redis.Client) {
	equal(must(r.SAdd(ctx, "s", "a", "b", "c").Result()), 3)
	must(r.SAdd(ctx, "t", "b", "d").Result())
	equal(must(r.SIsMember(ctx, "s", "a").Result()), true)
	equal(must(r.SMIsMember(ctx, "s", "a", "x").Result()), []bool{true, false})
	equal(must(r.SMove(ctx, "s", "t", "a").Result()), true)
	equal(sorted(must(r.SUnion(ctx, "s", "t").Result())), []string{"a", "b", "c", "d"})
	equal(must(r.SInter(ctx, "s", "t").Result()), []string{"b"})
	equal(must(r.SDiff(ctx, "s", "t").Result()), []string{"c"})
	equal(must(r.SInterCard(ctx, 0, "s", "t").Result()), 1)
	equal(must(r.SMembersMap(ctx, "s").Result()), map[string]struct{}{"b": {}, "c": {}})
	equal(sorted(must(r.SPopN(ctx, "t", 9).Result())), []string{"a", "b", "d"})
	equal(must(r.Exists(ctx, "t").Result()), 0)
}

func membersAreScanned(ctx context.Context, r *redis.Client) {
	const count = 1000
	_, err := r.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := 0; i < count; i++ {
			name := fmt.Sprint("m:", i)
			pipe.SAdd(ctx, "s", name)
			pipe.ZAdd(ctx, "z", redis.Z{Score: 1, Member: name})
			pipe.HSet(ctx, "h", name, 1)
		}
		return nil
	})
	equal(err, nil)
	scans := map[string]*redis.ScanCmd{"s": r.SScan(ctx, "s", 0, "", 0), "z": r.ZScan(ctx, "z", 0, "m:*", 50),
		"h": r.HScan(ctx, "h", 0, "", 7), "fields": r.HScanNoValues(ctx, "h", 0, "", 0)}
	for name, scan := range scans {
		found := map[string]bool{}
		iterator := scan.Iterator()
		for iterator.Next(ctx) {
			found[iterator.Val()] = true
		}
		delete(found, "1")
		equal([]interface{}{name, len(found), iterator.Err()}, []interface{}{name, count, nil})
	}
}

func blockingPopsOfMembers(ctx context.Context, r *redis.Client) {
	isNil(r.BZPopMin(ctx, time.Second, "q").Err())
	pops := []func() interface{}{
		func() interface{} { return *must(r.BZPopMin(ctx, 0, "p", "q").Result()) },
		func() interface{} { return *must(r.BZPopMax(ctx, patience(), "q").Result()) },
		func() interface{} {
			key, members, _ := r.BZMPop(ctx, 0, "min", 5, "p", "q").Result()
			return redis.ZWithKey{Key: key, Z: members[0]}
		},
	}
	for _, pop := range pops {
		answers := make(chan interface{}, 1)
		go func() { answers <- pop() }()
		waitBlocked(ctx, r, 1)
		must(r.ZAdd(ctx, "q", redis.Z{Score: 1.5, Member: "job"}).Result())
		equal(<-answers, interface{}(redis.ZWithKey{Key: "q", Z: redis.Z{Score: 1.5, Member: "job"}}))
	}
}
