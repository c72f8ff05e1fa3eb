"""Runs rows, datasets and curves, server by server within each round."""
import os
import statistics
import subprocess
import time

import rows
from servers import ServerError, cores, encode

CLIENTS = 50
CALLS_AT_ONCE, ELEMENTS_AT_ONCE = 500, 1_000_000  # of growth curves, so that a round trip costs little
BATCH_BYTES = 64 * 1024


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


def fill(client, data):
    """Puts data into an empty server:
        ()                              nothing
        ("strings", count)              key:000000000000 … as redis-benchmark names them
        ("list", key, count, element)   one list of equal elements
        ("lists", count, length, element)
    """
    if not data:
        return
    if data[0] == "strings":
        send_all(client, (encode("SET", "key:%012d" % number, "xxx") for number in range(data[1])))
    elif data[0] == "list":
        _, key, count, element = data
        some, rest = encode("RPUSH", key, *[element] * 100), count % 100
        send_all(client, [some] * (count // 100) + ([encode("RPUSH", key, *[element] * rest)] if rest else []))
    else:
        _, count, length, element = data
        send_all(client, (encode("RPUSH", "key:%d" % number, *[element] * length) for number in range(count)))


def prepare(server, data, config):
    """Has the server hold just this data, made under this configuration."""
    wanted = (data, config)
    if server.holds == wanted:
        return
    empty(server)
    for name, value in {**rows.DEFAULTS, **config}.items():
        server.client.call("CONFIG", "SET", name, value)
    fill(server.client, data)
    server.holds = wanted


def empty(server):
    server.holds = None
    server.client.call("FLUSHALL")
    server.settle()


def check_command(server, row):
    """One request by hand: redis-benchmark would count errors as replies."""
    server.client.call(*[word.replace("__rand_int__", "000000000000") for word in row.command])


def load(server, row):
    """Server CPU microseconds per request of one run of redis-benchmark."""
    command = ["redis-benchmark", "-p", str(server.port), "-n", str(row.requests), "-P", str(row.pipeline),
               "-c", str(CLIENTS), "-q"]
    if row.random_keys:
        command += ["-r", str(row.random_keys)]
    server.settle()
    before = server.cpu_seconds()
    subprocess.run(command + row.command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return (server.cpu_seconds() - before) / row.requests * 1e6


def run_row(servers, row, rounds, progress):
    """label -> median CPU microseconds per request; None where the server refuses it."""
    figures = {server.label: [] for server in servers}
    for number in range(rounds):
        for server in servers:
            progress(f"{row.name}: round {number + 1} of {rounds}, {server.label}")
            try:
                prepare(server, row.data, row.config)
                check_command(server, row)
                figures[server.label].append(load(server, row))
            except ServerError as error:
                progress(f"{row.name}: {server.label}: {error}", keep=True)
            if row.writes:
                server.holds = None
    return {label: statistics.median(found) if found else None for label, found in figures.items()}


def run_dataset(servers, dataset, progress):
    """label -> growth of used_memory in KB."""
    figures = {}
    for server in servers:
        progress(f"{dataset.name}: {server.label}")
        try:
            prepare(server, (), dataset.config)
            before = int(server.info("memory")["used_memory"])
            fill(server.client, dataset.data)
            server.settle()
            figures[server.label] = (int(server.info("memory")["used_memory"]) - before) / 1000
        except ServerError as error:
            progress(f"{dataset.name}: {server.label}: {error}", keep=True)
            figures[server.label] = None
        empty(server)
    return figures


def cpu_per_call(server, curve, length, seconds):
    """Microseconds of CPU per call, over calls that take about `seconds` of CPU in all."""
    batch = max(1, min(CALLS_AT_ONCE, ELEMENTS_AT_ONCE // length)) if curve.scans else CALLS_AT_ONCE
    requests = [encode(*curve.command(length))] * batch
    server.client.pipeline(requests)
    calls, before, deadline = 0, server.cpu_seconds(), time.monotonic() + 20 * seconds
    while server.cpu_seconds() - before < seconds and time.monotonic() < deadline:
        server.client.pipeline(requests)
        calls += batch
    return (server.cpu_seconds() - before) / calls * 1e6


def run_curves(servers, curves, longest, seconds, progress):
    """curve name -> label -> [(length, CPU microseconds per call)]. Each server's list grows from one
    length to the next, so that all have the same length at about the same time."""
    figures = {curve.name: {server.label: [] for server in servers} for curve in curves}
    for server in servers:
        prepare(server, (), {})
        server.holds = None
    have = 0
    for length in [length for length in rows.LENGTHS if length <= longest]:
        for server in servers:
            progress(f"growth: {length:,} elements, {server.label}")
            send_all(server.client, (
                encode("RPUSH", "list", *[rows.ELEMENT % number for number in range(start, start + 500)])
                for start in range(have, length, 500)))
            server.settle()
            for curve in curves:
                figures[curve.name][server.label].append((length, cpu_per_call(server, curve, length, seconds)))
        have = length
    for server in servers:
        empty(server)
    return figures


def run_program(path, *arguments):
    """Output of a micro-benchmark of ours, on the servers' core."""
    core, _ = cores()
    return subprocess.run([path, *arguments], capture_output=True, text=True, check=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, {core})).stdout.strip()
