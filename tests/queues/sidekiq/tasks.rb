# Sidekiq: jobs and the configuration; the program `sidekiq` loads it as a worker, and producer.rb as a producer.
require "sidekiq"
require "sidekiq/api"

ADDRESS = {url: "redis://127.0.0.1:#{ENV.fetch("PACKLIST_PORT")}/0"}
FOLDER = ENV.fetch("QUEUE_FOLDER")
QUEUES = %w[low middle high]

Sidekiq.configure_client { |config| config.redis = ADDRESS }
Sidekiq.configure_server do |config|
  config.redis = ADDRESS
  config.options[:average_scheduled_poll_interval] = 1 # as long as a job may be late
end

# What a worker does with a job; lib/harness.py describes it.
class Do
  include Sidekiq::Worker
  sidekiq_options retry: 5
  sidekiq_retry_in { 1 }

  def note(word, n)
    File.write("#{FOLDER}/ledger", "#{word} #{n} #{Process.pid} #{Time.now.to_f}\n", mode: "a")
  end

  def first_attempt?(n)
    File.open("#{FOLDER}/attempt.#{n}", File::CREAT | File::EXCL).close
    true
  rescue Errno::EEXIST
    false
  end

  def perform(n, kind)
    note("began", n)
    if kind != "plain" && first_attempt?(n)
      raise "the first attempt" if kind == "fails"
      sleep
    end
    sleep 0.002
    note("done", n)
  end
end

# Fails always, and is not tried again.
class Fail
  include Sidekiq::Worker
  sidekiq_options retry: 0, dead: true

  def perform
    raise "as it should"
  end
end
