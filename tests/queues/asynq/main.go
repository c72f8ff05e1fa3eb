// asynq: the worker, the producer, and checks of results, unique and scheduled tasks, and the inspector.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	job "packlist/tests/queues/lib"
)

var (
	address = asynq.RedisClientOpt{Addr: job.Address}
	queues  = []string{"low", "middle", "high"}
)

func do(_ context.Context, task *asynq.Task) error {
	return job.Do(task.Payload())
}

func sum(_ context.Context, task *asynq.Task) error {
	var numbers []int
	if err := json.Unmarshal(task.Payload(), &numbers); err != nil {
		return fmt.Errorf("%v: %w", err, asynq.SkipRetry)
	}
	total := 0
	for _, number := range numbers {
		total += number
	}
	_, err := task.ResultWriter().Write([]byte(strconv.Itoa(total)))
	return err
}

func work() {
	server := asynq.NewServer(address, asynq.Config{
		Concurrency:              job.Concurrency(),
		Queues:                   map[string]int{"high": 3, "middle": 2, "low": 1},
		StrictPriority:           true,
		DelayedTaskCheckInterval: time.Second,
		RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return time.Second },
	})
	mux := asynq.NewServeMux()
	mux.HandleFunc("do", do)
	mux.HandleFunc("sum", sum)
	if err := server.Run(mux); err != nil {
		log.Fatal(err)
	}
}

func produce() {
	client := asynq.NewClient(address)
	defer client.Close()
	job.Enqueue(func(j job.Job, text []byte) error {
		options := []asynq.Option{asynq.Queue(queues[j.Priority])}
		if j.Delay > 0 {
			options = append(options, asynq.ProcessIn(time.Duration(j.Delay*float64(time.Second))))
		}
		_, err := client.Enqueue(asynq.NewTask("do", text), options...)
		return err
	})
}

func main() {
	job.Run(map[string]func(){"work": work, "produce": produce, "check": check})
}
