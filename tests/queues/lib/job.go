// Package job is what a worker written in Go does with a job; lib/harness.py describes it.
package job

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"
)

const moment = 2 * time.Millisecond

// Address is the server's.
var Address = "127.0.0.1:" + os.Getenv("PACKLIST_PORT")

var folder = os.Getenv("QUEUE_FOLDER")

// ErrFirstAttempt is what a failing job ends with at its first attempt.
var ErrFirstAttempt = errors.New("the first attempt")

// Job is one line of the producer's input.
type Job struct {
	N        int     `json:"n"`
	Kind     string  `json:"kind"`
	Delay    float64 `json:"delay"`
	Priority int     `json:"priority"`
}

// Concurrency is how many jobs a worker does at once.
func Concurrency() int {
	concurrency, err := strconv.Atoi(os.Getenv("QUEUE_CONCURRENCY"))
	if err != nil {
		log.Fatal(err)
	}
	return concurrency
}

// Enqueue calls a function for each job, with the job and its text, which Do understands.
func Enqueue(enqueue func(job Job, text []byte) error) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var job Job
		if err := json.Unmarshal(lines.Bytes(), &job); err != nil {
			log.Fatal(err)
		}
		if err := enqueue(job, []byte(lines.Text())); err != nil {
			log.Fatal(err)
		}
	}
}

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

// Do does the job that the text describes.
func Do(text []byte) error {
	var job Job
	if err := json.Unmarshal(text, &job); err != nil {
		return err
	}
	note("began", job.N)
	if job.Kind != "plain" && isFirstAttempt(job.N) {
		if job.Kind == "fails" {
			return ErrFirstAttempt
		}
		select {}
	}
	time.Sleep(moment)
	note("done", job.N)
	return nil
}

// Verdict is one line of a program that checks more of its library.
func Verdict(name string, holds bool) {
	if holds {
		fmt.Println("ok -", name)
	} else {
		fmt.Println("not ok -", name)
	}
}

// Run calls the function that the command line names.
func Run(functions map[string]func()) {
	functions[os.Args[1]]()
}
