// A producer and a worker of queues over several servers, with go-redis' Ring.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const queues = 16

func newRing() *redis.Ring {
	addresses := map[string]string{}
	for i, port := range strings.Split(os.Getenv("SHARD_PORTS"), ",") {
		addresses[fmt.Sprintf("shard%d", i)] = "127.0.0.1:" + port
	}
	// The heartbeat would give the keys of a shard that is down to the others: right for a cache, not for queues.
	return redis.NewRing(&redis.RingOptions{Addrs: addresses, HeartbeatFrequency: 24 * time.Hour})
}

func produce(ctx context.Context, ring *redis.Ring) {
	jobs, _ := strconv.Atoi(os.Getenv("JOBS"))
	waiting := make(chan int, jobs)
	for job := 0; job < jobs; job++ {
		waiting <- job
	}
	for pushed := 0; pushed < jobs; {
		job := <-waiting
		err := ring.RPush(ctx, fmt.Sprintf("queue:%d", job%queues), job).Err()
		if err == nil {
			fmt.Println("pushed", job)
			pushed++
			continue
		}
		fmt.Println("error", err)
		time.Sleep(10 * time.Millisecond)
		waiting <- job
	}
	time.Sleep(600 * time.Second)
}

func work(ctx context.Context, ring *redis.Ring, queue string) {
	for {
		taken, err := ring.BLPop(ctx, 5*time.Second, queue).Result()
		switch {
		case err == nil:
			fmt.Println("took", taken[1])
		case !errors.Is(err, redis.Nil):
			fmt.Println("error", err)
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func main() {
	ctx, ring := context.Background(), newRing()
	if os.Args[1] == "produce" {
		produce(ctx, ring)
	} else {
		work(ctx, ring, "queue:"+os.Args[2])
	}
}
