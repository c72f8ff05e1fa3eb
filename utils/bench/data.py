"""What the servers are filled with."""
import functools
import random

from servers import ServerError, bulk, encode

BATCH_BYTES = 64 * 1024
CHUNK = 1000  # elements per RPUSH where an element is short
DOCUMENTS = 400  # different ones


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


def push(key, count, packed):
    """RPUSH of `count` elements that are encoded already."""
    return b"*%d\r\n%s%s%s" % (count + 2, bulk("RPUSH"), bulk(key), packed)


def fill_strings(client, count):
    send_all(client, (encode("SET", "key:%012d" % number, "xxx") for number in range(count)))


def fill_populate(client, count):
    try:
        client.call("DEBUG", "POPULATE", count)
    except ServerError:
        send_all(client, (encode("SET", "key:%d" % number, "value:%d" % number) for number in range(count)))


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


FILLS = {"strings": fill_strings, "populate": fill_populate, "list": fill_list, "lists": fill_lists,
         "numbers": fill_numbers, "integers": fill_integers, "documents": fill_documents}


def fill(client, data):
    """Puts data into an empty server:
        ()                              nothing
        ("strings", count)              key:000000000000 … as redis-benchmark names them
        ("populate", count)             key:0 … holding value:0 …, made by the server where it can
        ("list", key, count, element)   one list of equal elements
        ("numbers", key, count, pattern)        one list of 0, 1, 2, … in this pattern
        ("lists", count, length, element)
        ("integers", lists, length)     each list holds 0, 1, 2, …
        ("documents", lists, length, bytes)     JSON objects, drawn from a few hundred
    """
    if data:
        FILLS[data[0]](client, *data[1:])
