"""What the servers are filled with."""
import functools
import random

from bench_servers import ServerError
from resp import bulk, encode

BATCH_BYTES = 64 * 1024
CHUNK = 1000  # elements per request where an element is short
DOCUMENTS = 400  # different ones
NUMBERS_PER_SCRIPT = 10_000
DELIVERED_AT_ONCE = 10
ADD_ENTRIES = """
for number = ARGV[1], ARGV[2] do
    redis.call('XADD', KEYS[1], string.format(ARGV[3], number), ARGV[4], ARGV[5])
end"""
SET_STRINGS = """
for number = ARGV[1], ARGV[2] do
    redis.call('SET', string.format('key:%012d', number - 1), 'xxx')
end"""
DELIVER_ENTRIES = """
for number = ARGV[1], ARGV[2] do
    redis.call('XREADGROUP', 'GROUP', ARGV[3], 'consumer:' .. number % ARGV[5], 'COUNT', ARGV[4],
               'STREAMS', KEYS[1], '>')
end"""


def send_all(client, requests):
    """Encoded requests, in batches of some 64 KB."""
    batch, size = [], 0
    for request in requests:
        batch.append(request)
        size += len(request)
        if size >= BATCH_BYTES:
            client.pipeline(batch)
            batch, size = [], 0
    client.pipeline(batch)


class Everyone:
    """Clients of several servers as one client: each request is made once and goes to all, as making it often takes
    longer than answering it. One that fails gets no more; `able` are the others."""

    def __init__(self, clients):
        self.able = list(clients)

    def call(self, *words):
        self.pipeline([encode(words)])

    def pipeline(self, requests):
        data = b"".join(requests)
        for client in self.able:
            client.send(data)
        self.able = [client for client in self.able if answers(client, len(requests))]


def answers(client, count):
    """Reads so many replies; whether none of them is an error."""
    is_able = True
    for _ in range(count):
        try:
            client.answer()
        except ServerError:
            is_able = False
    return is_able


def add(command, key, word_count, packed):
    """A command that adds these words to a key. They are encoded already."""
    return b"*%d\r\n%s%s%s" % (word_count + 2, bulk(command), bulk(key), packed)


def push(key, count, packed):
    return add("RPUSH", key, count, packed)


def fill_strings(client, count):
    send_all(client, (encode(["SET", "key:%012d" % number, "xxx"]) for number in range(count)))


def fill_text(client, key, size):
    client.call("SET", key, "x" * size)


def fill_scripted_strings(client, count):
    fill_by_script(client, SET_STRINGS, "key:%012d" % 0, count)


def fill_values(client, count, size):
    value = bulk("x" * size)
    send_all(client, (add("SET", "key:%012d" % number, 1, value) for number in range(count)))


def fill_populate(client, count):
    try:
        client.call("DEBUG", "POPULATE", count)
    except ServerError:
        send_all(client, (encode(["SET", "key:%d" % number, "value:%d" % number]) for number in range(count)))


def fill_list(client, key, count, element):
    whole, rest = divmod(count, 100)
    send_all(client, [push(key, 100, bulk(element) * 100)] * whole)
    if rest:
        client.call("RPUSH", key, *[element] * rest)


def fill_numbers(client, key, count, pattern):
    for start in range(0, count, CHUNK):
        elements = (bulk(pattern % number) for number in range(start, min(start + CHUNK, count)))
        send_all(client, [push(key, min(CHUNK, count - start), b"".join(elements))])


def fill_lists(client, count, length, element):
    packed = bulk(element) * length
    send_all(client, (push("key:%d" % number, length, packed) for number in range(count)))


@functools.lru_cache(maxsize=None)
def integers(start, count):
    return b"".join(bulk(number) for number in range(start, start + count))


def fill_integers(client, lists, length):
    chunks = [(start, min(CHUNK, length - start)) for start in range(0, length, CHUNK)]
    send_all(client, (push("list:%d" % number, count, integers(start, count))
                      for number in range(lists) for start, count in chunks))


@functools.lru_cache(maxsize=1)
def documents(size):
    """JSON objects of `size` bytes: the same ones in every run."""
    source = random.Random(2500)
    words = ["".join(source.choices("aeiounrstlmdk", k=source.randint(3, 9))) for _ in range(800)]

    def document():
        text = '{"kind": "document"'
        while len(text) < size - 40:
            text += ', "%s": "%s"' % (source.choice(words), source.choice(words))
        return (text + ', "end": "').ljust(size - 2, "-") + '"}'
    return [document() for _ in range(DOCUMENTS)]


def fill_documents(client, lists, length, size):
    source, known = random.Random(lists), [bulk(document) for document in documents(size)]
    for number in range(lists):
        chosen = source.choices(known, k=length)
        send_all(client, (push("documents:%d" % number, 1, element) for element in chosen))


@functools.lru_cache(maxsize=1)
def shuffled(count):
    """0 … count - 1 in random order, the same one in every run."""
    numbers = list(range(count))
    random.Random(count).shuffle(numbers)
    return numbers


def fill_in_chunks(client, command, key, numbers, patterns):
    """For each number the words that the patterns make of it, some numbers per request."""
    for start in range(0, len(numbers), CHUNK):
        chunk = numbers[start:start + CHUNK]
        words = [bulk(pattern % number) for number in chunk for pattern in patterns]
        send_all(client, [add(command, key, len(words), b"".join(words))])


def fill_zset(client, key, count, member, score, first=0):
    fill_in_chunks(client, "ZADD", key, [first + number for number in shuffled(count)], (score, member))


def fill_places(client, key, count, member):
    """Places at random in a region of 16 x 16 degrees: the same ones in every run."""
    source = random.Random(count)
    for start in range(0, count, CHUNK):
        words = []
        for number in range(start, min(start + CHUNK, count)):
            place = ("%.6f" % source.uniform(2, 18), "%.6f" % source.uniform(42, 58), member % number)
            words += map(bulk, place)
        send_all(client, [add("GEOADD", key, len(words), b"".join(words))])


def fill_hash(client, key, count, field, value):
    fill_in_chunks(client, "HSET", key, shuffled(count), (field, value))


def fill_set(client, key, count, member, first=0):
    fill_in_chunks(client, "SADD", key, [first + number for number in shuffled(count)], (member,))


def fill_zsets(client, count, length):
    packed = b"".join(bulk(number) + bulk("member:%d" % number) for number in shuffled(length))
    send_all(client, (add("ZADD", "zset:%012d" % number, 2 * length, packed) for number in range(count)))


def fill_hashes(client, count, length, value):
    packed = b"".join(bulk("field:%d" % number) + bulk(value) for number in range(length))
    send_all(client, (add("HSET", "hash:%012d" % number, 2 * length, packed) for number in range(count)))


def fill_sets(client, count, length, member):
    def members(first):
        return b"".join(bulk(member % number) for number in range(first, first + length))
    send_all(client, (add("SADD", "set:%d" % number, length, members(number * length)) for number in range(count)))


def fill_by_script(client, script, key, count, *arguments):
    """Runs the script for numbers 1 … count, some at a time: ARGV[1] is the first of them, ARGV[2] the last one. What a
    server makes of short commands in a script is made sooner than they are sent."""
    for first in range(1, count + 1, NUMBERS_PER_SCRIPT):
        client.call("EVAL", script, 1, key, first, min(first + NUMBERS_PER_SCRIPT - 1, count), *arguments)


def fill_stream(client, key, count, field, value, id_pattern="%d-1"):
    fill_by_script(client, ADD_ENTRIES, key, count, id_pattern, field, value)


def fill_groups(client, key, count):
    for number in range(count):
        client.call("XGROUP", "CREATE", key, f"group:{number}", 0)


def fill_pending(client, key, count, consumers=1):
    client.call("XGROUP", "DESTROY", key, "pending")
    client.call("XGROUP", "CREATE", key, "pending", 0)
    fill_by_script(client, DELIVER_ENTRIES, key, count // DELIVERED_AT_ONCE, "pending", DELIVERED_AT_ONCE, consumers)


def fill_hyperloglogs(client, count, elements):
    for number in range(count):
        elements_of_it = range(number * elements, (number + 1) * elements)
        fill_in_chunks(client, "PFADD", f"hll:{number:012d}", elements_of_it, ("element:%d",))


def fill_script(client, text):
    client.call("SCRIPT", "LOAD", text)


def fill_function(client, code):
    client.call("FUNCTION", "LOAD", "REPLACE", code)


def fill_several(client, *parts):
    for part in parts:
        fill(client, part)


FILLS = {"strings": fill_strings, "scripted-strings": fill_scripted_strings, "values": fill_values,
         "text": fill_text, "populate": fill_populate, "list": fill_list, "lists": fill_lists,
         "numbers": fill_numbers, "integers": fill_integers, "documents": fill_documents,
         "zset": fill_zset, "zsets": fill_zsets, "places": fill_places, "hash": fill_hash, "hashes": fill_hashes,
         "set": fill_set, "sets": fill_sets, "stream": fill_stream, "groups": fill_groups, "pending": fill_pending,
         "hyperloglogs": fill_hyperloglogs, "script": fill_script, "function": fill_function, "several": fill_several}


def fill(client, data):
    """Puts data into an empty server:
        ()                              nothing
        ("strings", count)              key:000000000000 … as redis-benchmark names them
        ("text", key, size)             SET of so many bytes
        ("scripted-strings", count)     the same, made by a script: faster where there are millions
        ("values", count, size)         key:000000000000 …, each of so many bytes
        ("populate", count)             key:0 … holding value:0 …, made by the server where it can
        ("list", key, count, element)   one list of equal elements
        ("numbers", key, count, pattern)        one list of 0, 1, 2, … in this pattern
        ("hyperloglogs", count, elements)       hll:000000000000 …, each of other elements
        ("lists", count, length, element)
        ("integers", lists, length)     each list holds 0, 1, 2, …
        ("documents", lists, length, bytes)     JSON objects, drawn from a few hundred
        ("zset", key, count, member, score[, first])    one sorted set of `first`, `first` + 1, … in random order;
                                        `member` and `score` are patterns
        ("places", key, count, member)  one sorted set of places in a region of 16 x 16 degrees
        ("zsets", count, length)        zset:000000000000 …, each of the members member:0 … with the scores 0 …
        ("hash", key, count, field, value)      one hash of 0, 1, 2, … in random order, in these patterns
        ("hashes", count, length, value)        hash:000000000000 …, each of the fields field:0 …
        ("set", key, count, member[, first])    one set of `first`, `first` + 1, … in random order, in this pattern
        ("sets", count, length, member) set:0 …: the first holds 0 … length - 1, the next goes on from there
        ("stream", key, count, field, value[, pattern]) one stream of equal entries with the IDs 1-1, 2-1, …, or those
                                        of numbers from 1 on in this pattern
        ("groups", key, count)          group:0 … of a stream that is there, which have read nothing
        ("pending", key, count[, consumers])    a new group `pending` of the stream, which has read so many entries: ten
                                        by ten to consumer:0 … in turn
        ("script", text)                no data, but a script for EVALSHA; ("function", code): a library of functions
        ("several", data, …)            all of these
    """
    if data:
        FILLS[data[0]](client, *data[1:])
