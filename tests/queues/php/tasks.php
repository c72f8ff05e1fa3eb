<?php
// The worker, the producer, and checks of the queue in queue.php.
require __DIR__ . '/queue.php';

const QUEUES = ['low', 'middle', 'high'];

function note(string $word, int $n): void
{
    $line = sprintf("%s %d %d %.6f\n", $word, $n, getmypid(), microtime(true));
    file_put_contents(getenv('QUEUE_FOLDER') . '/ledger', $line, FILE_APPEND);
}

// What a worker does with a job; lib/harness.py describes it.
function perform(int $n, string $kind): void
{
    note('began', $n);
    if ($kind !== 'plain' && @fopen(getenv('QUEUE_FOLDER') . "/attempt.$n", 'x')) {
        if ($kind === 'fails') {
            throw new DomainException('the first attempt');
        }
        sleep(3600);
    }
    usleep(2000);
    note('done', $n);
}

function workOnce(Queue $queue): bool
{
    foreach (array_reverse(QUEUES) as $name) {
        $taken = $queue->take($name);
        if ($taken === null) {
            continue;
        }
        $data = json_decode($taken, true)['data'];
        try {
            perform($data['n'], $data['kind']);
            $queue->delete($name, $taken);
        } catch (DomainException) {
            $queue->release($name, $taken, 0.2);
        }
        return true;
    }
    return false;
}

function work(): void
{
    $queue = new Queue();
    while (true) {
        workOnce($queue) || $queue->wait(array_reverse(QUEUES));
    }
}

function produce(): void
{
    $queue = new Queue();
    while ($line = fgets(STDIN)) {
        $job = json_decode($line, true);
        $queue->push(QUEUES[$job['priority']], ['n' => $job['n'], 'kind' => $job['kind']], $job['delay']);
    }
}

function verdict(string $name, bool $holds): void
{
    echo $holds ? 'ok' : 'not ok', " - $name\n";
}

// A job is found again only if the script writes the same JSON as every other server's.
function checkJson(Queue $queue): void
{
    $cases = [
        'slashes' => ['path' => 'a/b', 'class' => 'App\\Jobs\\Send'],
        'text outside ASCII' => ['text' => "Grüße \u{1F600}", 'quote' => "\"\t\n"],
        'numbers' => ['whole' => 3, 'float' => 0.1, 'large' => 1234567890123, 'negative' => -1.5e-7],
        'nested arrays' => ['list' => [1, [2, [3]]], 'map' => ['a' => ['b' => null, 'c' => true]]],
    ];
    foreach ($cases as $name => $data) {
        $queue->push('json', $data);
        $taken = $queue->take('json');
        $decoded = json_decode($taken, true);
        verdict("JSON with $name keeps its meaning", $decoded['attempts'] === 1 && $decoded['data'] == $data);
        verdict("JSON with $name is found again", $queue->delete('json', $taken));
    }
}

function check(): void
{
    $queue = new Queue(retryAfter: 0);
    checkJson($queue);
    for ($n = 0; $n < 250; $n++) {
        $queue->push('many', ['n' => $n], 0.001);
    }
    usleep(2000);
    $first = json_decode($queue->take('many'), true);
    verdict('delayed jobs come in order when they are due', $first['data']['n'] === 0 && $queue->size('many') === 250);
    $again = null;
    for ($n = 0; $n < 250; $n++) {
        $again = json_decode($queue->take('many'), true);
    }
    verdict('a job comes again when its time is over', $again['id'] === $first['id'] && $again['attempts'] === 2);
}

$argv[1]();
