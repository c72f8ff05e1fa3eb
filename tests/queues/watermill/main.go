// Watermill's publisher and subscriber for Redis streams: the worker, the producer, and checks of groups and consumers.
package main

import (
	"context"
	"log"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-redisstream/pkg/redisstream"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/redis/go-redis/v9"
	job "packlist/tests/queues/lib"
)

var (
	background = context.Background()
	client     = redis.NewClient(&redis.Options{Addr: job.Address})
	logger     = watermill.NewStdLogger(false, false)
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func newPublisher(config redisstream.PublisherConfig) *redisstream.Publisher {
	config.Client = client
	return must(redisstream.NewPublisher(config, logger))
}

// subscribe starts a consumer of the group, or, when the group's name is "", one that is given all messages from the
// first one on.
func subscribe(topic, group string) <-chan *message.Message {
	subscriber := must(redisstream.NewSubscriber(redisstream.SubscriberConfig{
		Client:                 client,
		ConsumerGroup:          group,
		FanOutOldestId:         "0",
		MaxIdleTime:            5 * time.Second, // others claim what a dead consumer has been given
		ClaimInterval:          time.Second,
		CheckConsumersInterval: time.Second, // and remove it afterwards
		ConsumerTimeout:        8 * time.Second,
		NackResendSleep:        100 * time.Millisecond,
	}, logger))
	return must(subscriber.Subscribe(background, topic))
}

// do works on what a consumer is given. A message whose job fails comes again.
func do(messages <-chan *message.Message) {
	for one := range messages {
		if job.Do(one.Payload) == nil {
			one.Ack()
		} else {
			one.Nack()
		}
	}
}

// A consumer is given a message when the one before it is acknowledged.
func work() {
	for i := 1; i < job.Concurrency(); i++ {
		go do(subscribe("jobs", "workers"))
	}
	do(subscribe("jobs", "workers"))
}

func produce() {
	publisher := newPublisher(redisstream.PublisherConfig{})
	job.Enqueue(func(_ job.Job, text []byte) error {
		return publisher.Publish("jobs", message.NewMessage(watermill.NewUUID(), text))
	})
}

func publish(publisher *redisstream.Publisher, topic string, texts ...string) {
	for _, text := range texts {
		one := message.NewMessage(watermill.NewUUID(), []byte(text))
		one.Metadata.Set("origin", "here")
		if err := publisher.Publish(topic, one); err != nil {
			log.Fatal(err)
		}
	}
}

// payloads takes so many messages and acknowledges them.
func payloads(messages <-chan *message.Message, count int) (texts string) {
	for i := 0; i < count; i++ {
		one := <-messages
		one.Ack()
		texts += string(one.Payload)
	}
	return texts
}

// waitUntil returns when the condition holds. Time is no measure: the runner ends a program that waits for ever.
func waitUntil(condition func() bool) {
	for !condition() {
		time.Sleep(20 * time.Millisecond)
	}
}

func check() {
	publisher := newPublisher(redisstream.PublisherConfig{Maxlens: map[string]int64{"short": 10}})
	publish(publisher, "notes", "a", "b\x00\xff", "c")
	job.Verdict("each group is given all messages, in order", payloads(subscribe("notes", "one"), 3) == "ab\x00\xffc" &&
		payloads(subscribe("notes", "two"), 3) == "ab\x00\xffc")
	all := subscribe("notes", "")
	first := <-all
	job.Verdict("so is one without a group", string(first.Payload) == "a" && first.Metadata.Get("origin") == "here")
	first.Ack()
	job.Verdict("and the rest of them", payloads(all, 2) == "b\x00\xffc")

	messages := subscribe("again", "one")
	publish(publisher, "again", "x", "y")
	(<-messages).Nack()
	job.Verdict("a refused message comes again", payloads(messages, 2) == "xy")
	waitUntil(func() bool { return must(client.XPending(background, "again", "one").Result()).Count == 0 })

	publish(publisher, "left", "x")
	must(client.XGroupCreate(background, "left", "one", "0").Result())
	next := &redis.XReadGroupArgs{Group: "one", Consumer: "dead", Streams: []string{"left", ">"}}
	must(client.XReadGroup(background, next).Result())
	job.Verdict("a message of a dead consumer is claimed", payloads(subscribe("left", "one"), 1) == "x")
	waitUntil(func() bool { return len(must(client.XInfoConsumers(background, "left", "one").Result())) == 1 })
	job.Verdict("the dead consumer is removed", true)

	for i := 0; i < 500; i++ {
		publish(publisher, "short", "x")
	}
	job.Verdict("a stream is trimmed", must(client.XLen(background, "short").Result()) < 250)
}

func main() {
	job.Run(map[string]func(){"work": work, "produce": produce, "check": check})
}
