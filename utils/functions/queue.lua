#!lua name=queue
-- Queues whose workers may die: a worker takes jobs with a lease, and acknowledges them when they are done. The jobs of
-- a worker that died go back to where they were taken from when their lease ends. README.md tells how to use this.
--
-- A queue is a list of any name: RPUSH adds a job, and jobs are taken from the left. Beside the list Q there are
--   {Q}:leases   sorted set: lease -> when it ends, in ms
--   {Q}:leased   hash: lease -> "<max tries>:<job>"
--   {Q}:tries    hash: job -> how often it came back so far
--   {Q}:dead     list: jobs that came back as often as they may
--   {Q}:totals   hash: taken, done, returned, expired, dead; and `lease`, the number of the last one
-- Each function is atomic, so a job is in exactly one of the list, the leases and the dead.

-- Leases that ended are put back by every take, at most so many of a queue at a time.
local EXPIRE_AT_ONCE = 100
-- Jobs that are taken, renewed, returned or acknowledged at a time.
local MOST = 1000

-- The name of one of the keys above. They are in the hash slot of Q, also when its name has a tag.
local function beside(queue, what)
    if queue:find('{[^}]+}') then return queue .. ':' .. what end
    return '{' .. queue .. '}:' .. what
end

local function now()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function count(queue, what, by)
    if by > 0 then redis.call('HINCRBY', beside(queue, 'totals'), what, by) end
end

-- The argument as an integer from `low` to `high`, or an error.
local function integer(text, name, low, high)
    local number = tonumber(text)
    if not number or number ~= math.floor(number) or number < low or number > high then
        error({err = string.format('ERR %s must be an integer from %d to %d', name, low, high)}, 0)
    end
    return number
end

local function check_count(list, from, name)
    if #list < from or #list - from >= MOST then
        error({err = string.format('ERR from 1 to %d %s are needed', MOST, name)}, 0)
    end
end

-- Ends a lease. Its job and how often this may be tried, or nil when there is no such lease.
local function end_lease(queue, lease)
    local leased = beside(queue, 'leased')
    local entry = redis.call('HGET', leased, lease)
    if not entry then return nil end
    redis.call('HDEL', leased, lease)
    redis.call('ZREM', beside(queue, 'leases'), lease)
    local max_tries, job = entry:match('^(%d+):(.*)$')
    return job, tonumber(max_tries)
end

-- Puts the jobs of these leases back, the first one leftmost, or to the dead. How many there were.
local function put_back(queue, leases)
    local back, dead = 0, 0
    for i = #leases, 1, -1 do
        local job, max_tries = end_lease(queue, leases[i])
        if job then
            back = back + 1
            local tries = redis.call('HINCRBY', beside(queue, 'tries'), job, 1)
            if max_tries > 0 and tries >= max_tries then
                redis.call('HDEL', beside(queue, 'tries'), job)
                redis.call('RPUSH', beside(queue, 'dead'), job)
                dead = dead + 1
            else
                redis.call('LPUSH', queue, job)
            end
        end
    end
    count(queue, 'dead', dead)
    return back
end

-- Puts jobs back whose lease has ended. How many there were.
local function expire(queue, time)
    local ended = redis.call('ZRANGEBYSCORE', beside(queue, 'leases'), '-inf', time, 'LIMIT', 0, EXPIRE_AT_ONCE)
    local back = put_back(queue, ended)
    count(queue, 'expired', back)
    return back
end

-- Leases a job. What the worker is told: the lease, the job, and which try this is.
local function lease_job(queue, job, ends, max_tries)
    local lease = string.format('%d', redis.call('HINCRBY', beside(queue, 'totals'), 'lease', 1))
    redis.call('ZADD', beside(queue, 'leases'), string.format('%d', ends), lease)
    redis.call('HSET', beside(queue, 'leased'), lease, string.format('%d:', max_tries) .. job)
    local tries = redis.call('HGET', beside(queue, 'tries'), job)
    return {lease, job, (tonumber(tries) or 0) + 1}
end

-- FCALL queue_take <queues> queue … jobs lease-ms [max-tries]
-- Takes up to `jobs` jobs from the first queue that has any. A job that comes back for the `max-tries`th time goes to
-- the dead; 0, or none given: it may come back for ever. The reply: nil, or the queue and then an array of lease, job
-- and try for each job.
local function take(keys, args)
    local jobs = integer(args[1], 'the number of jobs', 1, MOST)
    local duration = integer(args[2], 'the lease', 1, 2 ^ 40)
    local max_tries = integer(args[3] or '0', 'the number of tries', 0, 2 ^ 31)
    local time = now()
    for _, queue in ipairs(keys) do
        expire(queue, time)
        local taken = redis.call('LPOP', queue, jobs)
        if taken and #taken > 0 then
            local reply = {queue}
            for i, job in ipairs(taken) do reply[i + 1] = lease_job(queue, job, time + duration, max_tries) end
            count(queue, 'taken', #taken)
            return reply
        end
    end
    return nil
end

-- FCALL queue_renew 1 queue lease-ms lease …
-- The leases end so many ms from now. The reply: 1 for each that still holds, else 0.
local function renew(keys, args)
    local duration = integer(args[1], 'the lease', 1, 2 ^ 40)
    check_count(args, 2, 'leases')
    local leases, ends, reply = beside(keys[1], 'leases'), string.format('%d', now() + duration), {}
    for i = 2, #args do
        local holds = redis.call('ZSCORE', leases, args[i])
        if holds then redis.call('ZADD', leases, ends, args[i]) end
        reply[i - 1] = holds and 1 or 0
    end
    return reply
end

-- FCALL queue_ack 1 queue lease …
-- The jobs are done. The reply: 1 for each lease that held, else 0: another worker may be doing the job again.
local function ack(keys, args)
    check_count(args, 1, 'leases')
    local reply, done = {}, 0
    for i, lease in ipairs(args) do
        local job = end_lease(keys[1], lease)
        if job then
            redis.call('HDEL', beside(keys[1], 'tries'), job)
            done = done + 1
        end
        reply[i] = job and 1 or 0
    end
    count(keys[1], 'done', done)
    return reply
end

-- FCALL queue_return 1 queue lease …
-- The jobs could not be done: they go back to the left end of their queue, or to the dead. The reply: how many leases
-- held.
local function give_back(keys, args)
    check_count(args, 1, 'leases')
    local back = put_back(keys[1], args)
    count(keys[1], 'returned', back)
    return back
end

-- FCALL queue_expire <queues> queue …
-- Puts jobs back whose leases have ended, for queues from which nobody takes. The reply: how many there were; when
-- it is not 0, there may be more.
local function expire_all(keys)
    local time, back = now(), 0
    for _, queue in ipairs(keys) do back = back + expire(queue, time) end
    return back
end

-- FCALL_RO queue_count <queues> queue …
-- For each queue an array of names and numbers: jobs that wait, that are leased, whose lease has ended but that are not
-- back yet, and that are dead; then how often jobs were taken, done, returned, expired, and have died.
local function count_all(keys)
    local time, reply = string.format('%d', now()), {}
    for i, queue in ipairs(keys) do
        local leases, totals = beside(queue, 'leases'), beside(queue, 'totals')
        local ended = redis.call('ZCOUNT', leases, '-inf', time)
        local counts = {'waiting', redis.call('LLEN', queue), 'leased', redis.call('ZCARD', leases) - ended,
                        'ended', ended, 'dead', redis.call('LLEN', beside(queue, 'dead'))}
        for _, what in ipairs({'taken', 'done', 'returned', 'expired', 'dead'}) do
            counts[#counts + 1] = 'total_' .. what
            counts[#counts + 1] = tonumber(redis.call('HGET', totals, what) or 0)
        end
        reply[i] = counts
    end
    return reply
end

redis.register_function('queue_take', take)
redis.register_function('queue_renew', renew)
-- These two free memory, so they must work when there is none left.
redis.register_function{function_name = 'queue_ack', callback = ack, flags = {'allow-oom'}}
redis.register_function{function_name = 'queue_return', callback = give_back, flags = {'allow-oom'}}
redis.register_function{function_name = 'queue_expire', callback = expire_all, flags = {'allow-oom'}}
redis.register_function{function_name = 'queue_count', callback = count_all, flags = {'no-writes'}}
