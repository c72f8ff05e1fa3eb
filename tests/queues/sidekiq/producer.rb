# Enqueues jobs, or checks more of Sidekiq.
require "json"
require_relative "tasks"

def produce
  $stdin.each_line.map { |line| JSON.parse(line) }.each do |job|
    queued = Do.set(queue: QUEUES[job["priority"]])
    arguments = [job["n"], job["kind"]]
    job["delay"] > 0 ? queued.perform_in(job["delay"], *arguments) : queued.perform_async(*arguments)
  end
end

def verdict(name, holds)
  puts "#{holds ? "ok" : "not ok"} - #{name}"
end

# Time is no measure: the runner ends a program that waits for ever.
def wait_until
  sleep 0.05 until yield
end

def check
  stats = -> { Sidekiq::Stats.new }
  Sidekiq::Client.push_bulk("class" => Do, "args" => (1..100).map { |n| [n, "plain"] }, "queue" => "middle")
  wait_until { stats.call.processed == 100 }
  verdict("jobs are counted when they are done", stats.call.enqueued == 0)
  Fail.set(queue: "high").perform_async
  wait_until { Sidekiq::DeadSet.new.size == 1 }
  wait_until { stats.call.processed == 101 }
  verdict("a job that failed too often is kept as dead and counted", stats.call.failed == 1)
  verdict("its error is kept", Sidekiq::DeadSet.new.first["error_message"] == "as it should")
  Do.perform_in(3600, 200, "plain")
  Do.perform_in(3600, 201, "plain")
  scheduled = Sidekiq::ScheduledSet.new
  verdict("scheduled jobs are counted", scheduled.size == 2)
  scheduled.find { |job| job.args.first == 200 }.delete
  verdict("a scheduled job can be deleted", scheduled.map { |job| job.args.first } == [201])
  scheduled.clear
  wait_until { Sidekiq::ProcessSet.new.size == 1 }
  verdict("a worker is shown", Sidekiq::ProcessSet.new.first["concurrency"] == ENV.fetch("QUEUE_CONCURRENCY").to_i)
  history = Sidekiq::Stats::History.new(2).processed.values # two days: it may be midnight
  verdict("jobs are counted by days", history.sum == 101)
end

send(ARGV.first)
