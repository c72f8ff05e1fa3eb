package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// failure is what a check panics with.
type failure string

var address = "127.0.0.1:" + os.Getenv("PACKLIST_PORT")

func patience() time.Duration {
	if os.Getenv("PACKLIST_SLOW") != "" {
		return time.Minute
	}
	return 20 * time.Second
}

// fail ends the check with the line of its caller's caller.
func fail(format string, values ...interface{}) {
	_, file, line, _ := runtime.Caller(2)
	panic(failure(fmt.Sprintf("%s:%d: ", filepath.Base(file), line) + fmt.Sprintf(format, values...)))
}

// must gives the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		fail("%v", err)
	}
	return value
}

func equal[T any](got, wanted T) {
	if !reflect.DeepEqual(got, wanted) {
		fail("got %#v, wanted %#v", got, wanted)
	}
}

func isError(err error, text string) {
	if err == nil || !strings.Contains(err.Error(), text) {
		fail("got the error %v, wanted %q", err, text)
	}
}

func isNil(err error) {
	if !errors.Is(err, redis.Nil) {
		fail("got %v, wanted redis.Nil", err)
	}
}

func waitUntil(condition func() bool) {
	for deadline := time.Now().Add(patience()); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			fail("waited in vain")
		}
	}
}

func waitBlocked(ctx context.Context, r *redis.Client, count int) {
	wanted := fmt.Sprintf("blocked_clients:%d\r\n", count)
	waitUntil(func() bool { return strings.Contains(r.Info(ctx, "clients").Val(), wanted) })
}

type check struct {
	name string
	run  func(ctx context.Context, r *redis.Client)
}

// passes runs a check with a client of its own on an empty server and returns whether it held.
func (c check) passes(protocol int) (passed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience())
	r := redis.NewClient(&redis.Options{Addr: address, Protocol: protocol, ClientName: "worker",
		ContextTimeoutEnabled: true})
	defer cancel()
	defer r.Close()
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Printf("FAILED: %s (RESP%d): %v\n", c.name, protocol, problem)
			passed = false
		}
	}()
	must(r.FlushAll(ctx).Result())
	c.run(ctx, r)
	return true
}

func main() {
	passed, failed := 0, 0
	for _, protocol := range []int{2, 3} {
		for _, c := range checks {
			if c.passes(protocol) {
				passed++
			} else {
				failed++
			}
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
