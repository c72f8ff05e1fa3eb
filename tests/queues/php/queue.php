<?php
// A queue as frameworks for PHP keep it on lists: jobs are JSON in a list, those that are delayed or that a worker has
// taken are in sorted sets by the time when they are due again. Each step is a script, which is sent as text each time.
// A list of signals, one for each job that can be taken, lets workers wait.

// Every due job of a sorted set goes to the list, a hundred at a time.
const MIGRATE = <<<'LUA'
local due = redis.call('zrangebyscore', KEYS[1], '-inf', ARGV[1])
if #due == 0 then return due end
redis.call('zremrangebyrank', KEYS[1], 0, #due - 1)
for first = 1, #due, 100 do
    local last = math.min(first + 99, #due)
    redis.call('rpush', KEYS[2], unpack(due, first, last))
    for i = first, last do redis.call('rpush', KEYS[3], 1) end
end
return due
LUA;

// The first job, counting the attempt in its JSON, is put beside until its time is over.
const TAKE = <<<'LUA'
local job = redis.call('lpop', KEYS[1])
if not job then return {false, false} end
local taken = cjson.decode(job)
taken['attempts'] = taken['attempts'] + 1
taken = cjson.encode(taken)
redis.call('zadd', KEYS[2], ARGV[1], taken)
redis.call('lpop', KEYS[3])
return {job, taken}
LUA;

const PUSH = <<<'LUA'
redis.call('rpush', KEYS[1], ARGV[1])
redis.call('rpush', KEYS[2], 1)
LUA;

// A job that a worker gives back is delayed.
const RELEASE = <<<'LUA'
redis.call('zrem', KEYS[2], ARGV[1])
redis.call('zadd', KEYS[1], ARGV[2], ARGV[1])
return true
LUA;

const SIZE = "return redis.call('llen', KEYS[1]) + redis.call('zcard', KEYS[2]) + redis.call('zcard', KEYS[3])";

class Queue
{
    private Redis $redis;

    public function __construct(private int $retryAfter = 5)
    {
        $this->redis = new Redis();
        $this->redis->connect('127.0.0.1', (int)getenv('PACKLIST_PORT'));
        $this->redis->setOption(Redis::OPT_READ_TIMEOUT, -1);
    }

    private function run(string $script, array $keys, array $arguments = [])
    {
        $this->redis->clearLastError();
        $result = $this->redis->eval($script, array_merge($keys, $arguments), count($keys));
        if ($this->redis->getLastError() !== null) {
            throw new RuntimeException($this->redis->getLastError());
        }
        return $result;
    }

    public function push(string $queue, array $data, float $delay = 0): void
    {
        $job = json_encode(['id' => bin2hex(random_bytes(8)), 'attempts' => 0, 'data' => $data]);
        if ($delay > 0) {
            $this->redis->zAdd("queues:$queue:delayed", microtime(true) + $delay, $job);
        } else {
            $this->run(PUSH, ["queues:$queue", "queues:$queue:notify"], [$job]);
        }
    }

    // The JSON of the first job that can be taken, or null.
    public function take(string $queue): ?string
    {
        $now = microtime(true);
        foreach (['delayed', 'reserved'] as $set) {
            $this->run(MIGRATE, ["queues:$queue:$set", "queues:$queue", "queues:$queue:notify"], [$now]);
        }
        $keys = ["queues:$queue", "queues:$queue:reserved", "queues:$queue:notify"];
        $taken = $this->run(TAKE, $keys, [$now + $this->retryAfter]);
        return $taken[1] ?: null;
    }

    public function wait(array $queues): void
    {
        $this->redis->blPop(array_map(fn ($queue) => "queues:$queue:notify", $queues), 1);
    }

    // Returns false when the job is not where take() has put it: the script wrote other JSON than it was given.
    public function delete(string $queue, string $taken): bool
    {
        return $this->redis->zRem("queues:$queue:reserved", $taken) === 1;
    }

    public function release(string $queue, string $taken, float $delay): void
    {
        $this->run(RELEASE, ["queues:$queue:delayed", "queues:$queue:reserved"], [$taken, microtime(true) + $delay]);
    }

    public function size(string $queue): int
    {
        return $this->run(SIZE, ["queues:$queue", "queues:$queue:delayed", "queues:$queue:reserved"]);
    }
}
