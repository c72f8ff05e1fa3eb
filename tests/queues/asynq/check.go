package main

import (
	"errors"
	"log"
	"time"

	"github.com/hibiken/asynq"
	job "packlist/tests/queues/lib"
)

// Time is no measure: the runner ends a program that waits for ever.
func waitFor(inspector *asynq.Inspector, queue, id string, state asynq.TaskState) *asynq.TaskInfo {
	for {
		info, err := inspector.GetTaskInfo(queue, id)
		if err != nil {
			log.Fatal(err)
		}
		if info.State == state {
			return info
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func enqueue(client *asynq.Client, payload string, options ...asynq.Option) *asynq.TaskInfo {
	options = append(options, asynq.Queue("high"), asynq.Retention(time.Hour))
	info, err := client.Enqueue(asynq.NewTask("sum", []byte(payload)), options...)
	if err != nil {
		log.Fatal(err)
	}
	return info
}

func check() {
	client, inspector := asynq.NewClient(address), asynq.NewInspector(address)
	defer client.Close()
	defer inspector.Close()
	done := waitFor(inspector, "high", enqueue(client, "[1, 2, 3]").ID, asynq.TaskStateCompleted)
	job.Verdict("a result is kept", string(done.Result) == "6")
	failed := waitFor(inspector, "high", enqueue(client, "no list").ID, asynq.TaskStateArchived)
	job.Verdict("an error is kept", failed.LastErr != "")

	later := enqueue(client, "[1]", asynq.ProcessIn(time.Hour), asynq.TaskID("mine"))
	job.Verdict("a task can be scheduled", later.State == asynq.TaskStateScheduled)
	_, err := client.Enqueue(asynq.NewTask("sum", nil), asynq.Queue("high"), asynq.TaskID("mine"))
	job.Verdict("a second task of the same name is refused", errors.Is(err, asynq.ErrTaskIDConflict))
	job.Verdict("a scheduled task can be run at once", inspector.RunTask("high", "mine") == nil)
	job.Verdict("its result is kept", string(waitFor(inspector, "high", "mine", asynq.TaskStateCompleted).Result) == "1")

	enqueue(client, "[2]", asynq.ProcessIn(time.Hour), asynq.Unique(time.Hour))
	_, err = client.Enqueue(asynq.NewTask("sum", []byte("[2]")), asynq.Queue("high"), asynq.Unique(time.Hour))
	job.Verdict("a unique task is refused the second time", errors.Is(err, asynq.ErrDuplicateTask))

	queue, err := inspector.GetQueueInfo("high")
	if err != nil {
		log.Fatal(err)
	}
	job.Verdict("tasks are counted by their states", queue.Completed == 2 && queue.Archived == 1 && queue.Scheduled == 1)
	job.Verdict("the memory of a queue is estimated", queue.MemoryUsage > 0)
	servers, err := inspector.Servers()
	job.Verdict("a worker is shown", err == nil && len(servers) == 1)
	deleted, err := inspector.DeleteAllScheduledTasks("high")
	job.Verdict("scheduled tasks can be deleted", err == nil && deleted == 1)
	job.Verdict("a queue can be removed", inspector.DeleteQueue("high", true) == nil)
}
