// asynq: the worker, the producer, and checks of results, unique and scheduled tasks, and the inspector.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
)

// A job and what a worker does with it; lib/harness.py describes both.
type job struct {
	N        int     `json:"n"`
	Kind     string  `json:"kind"`
	Delay    float64 `json:"delay"`
	Priority int     `json:"priority"`
}

var (
	address = asynq.RedisClientOpt{Addr: "127.0.0.1:" + os.Getenv("PACKLIST_PORT")}
	folder  = os.Getenv("QUEUE_FOLDER")
	queues  = []string{"low", "middle", "high"}
)

func note(word string, n int) {
	ledger, err := os.OpenFile(folder+"/ledger", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer ledger.Close()
	now := float64(time.Now().UnixMicro()) / 1e6
	fmt.Fprintf(ledger, "%s %d %d %.6f\n", word, n, os.Getpid(), now)
}

func isFirstAttempt(n int) bool {
	file, err := os.OpenFile(fmt.Sprintf("%s/attempt.%d", folder, n), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		file.Close()
	}
	return err == nil
}

func do(_ context.Context, task *asynq.Task) error {
	var j job
	if err := json.Unmarshal(task.Payload(), &j); err != nil {
		return err
	}
	note("began", j.N)
	if j.Kind != "plain" && isFirstAttempt(j.N) {
		if j.Kind == "fails" {
			return errors.New("the first attempt")
		}
		select {}
	}
	time.Sleep(2 * time.Millisecond)
	note("done", j.N)
	return nil
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
	concurrency, err := strconv.Atoi(os.Getenv("QUEUE_CONCURRENCY"))
	if err != nil {
		log.Fatal(err)
	}
	server := asynq.NewServer(address, asynq.Config{
		Concurrency:              concurrency,
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
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var j job
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			log.Fatal(err)
		}
		options := []asynq.Option{asynq.Queue(queues[j.Priority])}
		if j.Delay > 0 {
			options = append(options, asynq.ProcessIn(time.Duration(j.Delay*float64(time.Second))))
		}
		if _, err := client.Enqueue(asynq.NewTask("do", lines.Bytes()), options...); err != nil {
			log.Fatal(err)
		}
	}
}

func main() {
	functions := map[string]func(){"work": work, "produce": produce, "check": check}
	functions[os.Args[1]]()
}
