"""Runs rows, datasets and curves, server by server within each round."""
import contextlib
import dataclasses
import json
import subprocess
import time

import rows
from bench_servers import Client, ServerError, TlsAddress, cores, take_core
from data import Everyone, fill
from repeat import columns, medians, until_settled, until_sure
from resp import encode

CLIENTS = 50  # of redis-benchmark, where a row does not say otherwise
CALLS_AT_ONCE, ELEMENTS_AT_ONCE = 500, 1_000_000  # of growth curves, so that a round trip costs little
MEMORY_SECONDS = 20  # until used_memory stays the same


def prepare(server, data, config):
    """Has the server hold just this data, made under this configuration."""
    if server.holds != (data, config):
        clear(server, config)
        fill(server.client, data)
        server.holds = (data, config)


def clear(server, config):
    empty(server)
    for name, value in {**rows.DEFAULTS, **config}.items():
        server.client.call("CONFIG", "SET", name, value)


def prepare_all(servers, data, config):
    """Does for all servers at once what prepare() does for one, where it can: prepare() does the rest, or says why it
    cannot."""
    waiting = []
    for server in servers:
        if server.holds != (data, config):
            with contextlib.suppress(ServerError):
                clear(server, config)
                waiting.append(server)
    for server in fill_all(waiting, data):
        server.holds = (data, config)


def fill_all(servers, data):
    """Adds data to all servers; those that took it, once all are idle."""
    if not servers:
        return []  # making the data takes long
    everyone = Everyone(server.client for server in servers)
    fill(everyone, data)
    for server in servers * 2:  # again, as one that waits for the core that they share seems idle
        server.wait_until_idle()
    return [server for server in servers if server.client in everyone.able]


def empty(server):
    server.holds = None
    server.client.call("FLUSHALL")
    server.wait_until_idle()


def example(row):
    """One request of the row."""
    return [word.replace("__rand_int__", "000000000000") for word in row.command]


def tls_port_of(server):
    if not server.tls_port:
        raise ServerError("does not speak TLS")
    return server.tls_port


def load(server, row):
    """Server CPU microseconds per request of one run of redis-benchmark."""
    place = ["-s", server.unix_socket] if row.by_unix_socket else ["-p", str(server.port)]
    if row.by_tls:
        place = ["-p", str(tls_port_of(server)), "--tls", "--cacert", server.authority]
    command = ["redis-benchmark", *place, "-n", str(row.requests), "-P", str(row.pipeline),
               "-c", str(row.clients or CLIENTS), "-q"]
    if row.random_keys:
        command += ["-r", str(row.random_keys)]
    server.wait_until_idle()
    before = server.cpu_seconds()
    subprocess.run(command + row.command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return (server.cpu_seconds() - before) / row.requests * 1e6


def turn(server, row):
    """(CPU microseconds per request, bytes of the last reply) of one run on one server."""
    try:
        prepare(server, row.data, row.config)
        server.client.call(*example(row))  # redis-benchmark would count errors as replies
        return load(server, row), server.client.raw(*example(row))
    finally:
        if row.writes:
            empty(server)


def run_row(servers, row, rounds, floors, progress):
    """label -> median CPU microseconds per request; None where the server refuses it. The floor takes its
    turn after the servers, with the reply that the first of them gave."""
    row = dataclasses.replace(row, requests=row.requests_of_turn)
    figures, floor = {label: [] for label in [server.label for server in servers] + ["floor"]}, None
    with contextlib.ExitStack() as stack:
        for number in until_sure(rounds, figures):
            reply = None
            progress(f"{row.name}: round {number + 1}, data")
            prepare_all(servers, row.data, row.config)
            for server in servers:
                progress(f"{row.name}: round {number + 1}, {server.label}")
                try:
                    cpu, last = turn(server, row)
                    figures[server.label].append(cpu)
                    reply = reply or last
                except ServerError as error:
                    progress(f"{row.name}: {server.label}: {error}", keep=True)
            if reply and not floor and not row.by_unix_socket and not row.by_tls:
                floor = floors.start(len(encode(example(row))), reply)
                stack.callback(floor.stop) if floor else None
            if floor:
                figures["floor"].append(load(floor, row))
    if row.uses_up:
        for server in servers:
            empty(server)
    return medians(figures)


def run_call(servers, call, rounds, progress):
    """label -> median CPU milliseconds per call; None where the server refuses it."""
    figures = {server.label: [] for server in servers}
    prepare_all(servers, call.data, {})
    for number in until_sure(rounds, figures):
        for server in servers:
            progress(f"{call.name}: round {number + 1}, {server.label}")
            try:
                prepare(server, call.data, {})
                spent = [cpu_of_calls(server, [encode(call.command)], ()) for _ in range(call.calls)]
                figures[server.label].append(sum(spent) / call.calls * 1000)
            except ServerError as error:
                progress(f"{call.name}: {server.label}: {error}", keep=True)
    return medians(figures)


def bytes_per_member(dataset, megabytes):
    """Name of a figure -> label -> bytes of used_memory per member, from the growth in MB. Empty where the dataset
    does not give the number of its members."""
    if not dataset.members:
        return {}
    each = {label: grown and grown * 1e6 / dataset.members for label, grown in megabytes.items()}
    found = {f"{dataset.name}: all": each}
    if dataset.own_bytes:
        found[f"{dataset.name}: beside their own {dataset.own_bytes} bytes"] = {
            label: grown and grown - dataset.own_bytes for label, grown in each.items()}
    return found


def growth_alone(server, dataset):
    """Growth of used_memory in MB, of a server that did not take the data together with others."""
    empty(server)
    prepare(server, dataset.before, dataset.config)
    server.wait_until_idle()
    before = server.used_memory()
    fill(server.client, dataset.data)
    server.wait_until_idle()
    return (server.used_memory() - before) / 1e6


def run_dataset(servers, dataset, progress):
    """label -> growth of used_memory in MB, None where the server refuses the data."""
    figures = {server.label: None for server in servers}
    progress(f"{dataset.name}: all servers")
    prepare_all(servers, dataset.before, dataset.config)
    able = [server for server in servers if server.holds == (dataset.before, dataset.config)]
    before = {server.label: server.used_memory() for server in able}
    for server in fill_all(able, dataset.data):
        figures[server.label] = (server.used_memory() - before[server.label]) / 1e6
    for server in servers:
        try:
            if figures[server.label] is None:
                figures[server.label] = growth_alone(server, dataset)
        except ServerError as error:
            progress(f"{dataset.name}: {server.label}: {error}", keep=True)
        empty(server)
    return figures


def steady_memory(measure):
    """What `measure()` returns once it has stayed within a thousandth for a second: servers shrink buffers after a
    while."""
    deadline, before = time.monotonic() + MEMORY_SECONDS, 0
    while time.monotonic() < deadline:
        now = measure()
        if abs(now - before) * 1000 < now:
            return now
        before = now
        time.sleep(1)
    return before


def run_connections(servers, connections, progress):
    """label -> bytes per idle connection: of used_memory, or of resident memory over TLS, as only Packlist counts what
    OpenSSL allocates in used_memory."""
    figures = {}
    for server in servers:
        progress(f"{connections.name}: {server.label}")
        prepare(server, (), {})
        measure = server.resident_memory if connections.by_tls else server.used_memory
        before = steady_memory(measure)
        with contextlib.ExitStack() as stack:
            try:
                place = TlsAddress(tls_port_of(server), server.authority) if connections.by_tls else server.port
                for _ in range(connections.count):
                    client = stack.enter_context(contextlib.closing(Client(place)))
                    client.call("PING")
                figures[server.label] = (steady_memory(measure) - before) / connections.count
            except (OSError, ServerError) as error:
                progress(f"{connections.name}: {server.label}: {error}", keep=True)
                figures[server.label] = None
        server.wait_until_idle()
    return figures


def connect(server, row, program):
    """(server CPU microseconds per connection, longest wait of a PING in ms or None) of one run."""
    server.wait_until_idle()
    before = server.cpu_seconds()
    command = [program, str(tls_port_of(server)), server.authority, row.how, str(row.count), str(row.at_once)]
    command += ["pings"] * row.with_pings
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise ServerError(done.stderr.strip())
    longest = json.loads(done.stdout).get("longest_us")
    return (server.cpu_seconds() - before) / row.count * 1e6, longest and longest / 1000


def run_new_connections(servers, row, rounds, program, progress):
    """label -> the median of server CPU microseconds per connection; or, with pings, the longest wait in ms in the
    best round, as what else goes on in the machine only adds."""
    found, rounds = {server.label: [] for server in servers}, max(rounds, 3)
    for number in until_settled(rounds, found.values) if row.with_pings else until_sure(rounds, found):
        for server in servers:
            progress(f"{row.name}: round {number + 1}, {server.label}")
            try:
                prepare(server, (), {})
                found[server.label].append(connect(server, row, program)[row.with_pings])
            except ServerError as error:
                progress(f"{row.name}: {server.label}: {error}", keep=True)
    if row.with_pings:
        return {label: min(figures, default=None) for label, figures in found.items()}
    return medians(found)


def count_stalls(server, stalls):
    """(commands slower than the limit, the longest in ms) of one run."""
    config = {"slowlog-log-slower-than": str(stalls.slower_than), "slowlog-max-len": "100000"}
    prepare(server, (), config)
    server.client.call("SLOWLOG", "RESET")
    load(server, stalls.load)
    slow = [entry[2] / 1000 for entry in server.client.call("SLOWLOG", "GET", 100000)]
    empty(server)
    return len(slow), max(slow, default=0)


def run_stalls(servers, stalls, rounds, progress):
    """(label -> commands slower than the limit, label -> the longest in ms) in the round that disturbed the
    server least, as what else goes on in the machine only adds."""
    found = {server.label: [] for server in servers}
    for number in until_settled(rounds, lambda: columns(found)):
        for server in servers:
            progress(f"{stalls.name}: round {number + 1} of {rounds}, {server.label}")
            try:
                found[server.label].append(count_stalls(server, stalls))
            except ServerError as error:
                progress(f"{stalls.name}: {server.label}: {error}", keep=True)
    return [{label: min(pairs)[at] if pairs else None for label, pairs in found.items()} for at in range(2)]


def milliseconds(server, *command):
    start = time.monotonic()
    server.client.call(*command)
    return (time.monotonic() - start) * 1000


def run_snapshot(servers, snapshot, rounds, progress):
    """(label -> ms that SAVE takes, label -> ms to load it again), by the wall's clock, as a disk takes part,
    and in the best round, as what else goes on in the machine only adds. The servers keep the data, which the next row
    may need, too."""
    found = {server.label: [] for server in servers}
    prepare_all(servers, snapshot.data, {})
    for number in until_settled(max(rounds, 3), lambda: columns(found)):
        for server in servers:
            progress(f"{snapshot.name}: round {number + 1}, {server.label}")
            try:
                prepare(server, snapshot.data, {})
                found[server.label].append((milliseconds(server, "SAVE"),
                                            milliseconds(server, "DEBUG", "RELOAD", "NOSAVE")))
            except ServerError as error:
                progress(f"{snapshot.name}: {server.label}: {error}", keep=True)
    return [{label: min(pair[at] for pair in pairs) if pairs else None for label, pairs in found.items()}
            for at in range(2)]


def cpu_of_calls(server, requests, undo):
    """CPU seconds that these requests take together; then takes back what they did."""
    before = server.cpu_seconds()
    server.client.pipeline(requests)
    spent = server.cpu_seconds() - before
    if undo:
        server.client.call(*undo)
    return spent


def cpu_per_call(server, curve, length, seconds):
    """Microseconds of CPU per call, over calls that take about `seconds` of CPU in all."""
    batch = max(1, min(CALLS_AT_ONCE, ELEMENTS_AT_ONCE // length)) if curve.scans else CALLS_AT_ONCE
    if curve.undo:
        batch = max(1, min(batch, length // 20))  # the list stays about as long as it is
    requests = [encode(curve.command(length))] * batch
    cpu_of_calls(server, requests, curve.undo)  # warms up
    calls, spent, deadline = 0, 0, time.monotonic() + 20 * seconds
    while calls == 0 or (spent < seconds and time.monotonic() < deadline):
        spent += cpu_of_calls(server, requests, curve.undo)
        calls += batch
    return spent / calls * 1e6


def run_curves(servers, curves, longest, seconds, progress):
    """curve name -> label -> [(length, CPU microseconds per call)]. Each server's list grows from one
    length to the next, so that all have the same length at about the same time."""
    figures = {curve.name: {server.label: [] for server in servers} for curve in curves}
    for server in servers:
        prepare(server, (), {})
        server.holds = None
    have = 0
    for length in [length for length in rows.LENGTHS if length <= longest]:
        progress(f"growth: {length:,} elements")
        for start in range(have, length, 500):  # made once for all servers: that takes longer than sending it
            request = encode(["RPUSH", "list", *[rows.ELEMENT % number for number in range(start, start + 500)]])
            for server in servers:
                server.client.pipeline([request])
        for server in servers:
            progress(f"growth: {length:,} elements, {server.label}")
            server.wait_until_idle()
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
                          preexec_fn=lambda: take_core(core)).stdout.strip()
