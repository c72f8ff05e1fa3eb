"""How a snapshot delays clients while it is written, and what it costs."""
import contextlib
import json
import os
import subprocess
import time

from bench_servers import ServerError
from measure import CLIENTS, empty, prepare, prepare_all
from repeat import Least, until_settled

CLIENTS_OF_RATE = 500           # so many that what comes due need not wait for a connection to be free
WARM_UP_SECONDS, BEFORE_SECONDS = 0.5, 1
POLL_SECONDS = 0.01
END_SECONDS = 60                # for what came due during the save to be answered
AGREE = 0.05                    # latencies that differ by this share of the least do not count as different
BEFORE, DURING = "seconds per request before", "during"  # where clients send as soon as they have their replies


class Load:
    """pace.c, which runs from here to phases(). `rate` 0: each client sends when it has its reply."""

    def __init__(self, pace, port, rate, requests, clients=0):
        words = [word for request in requests for word in ("/", *request)][1:]
        clients = clients or (CLIENTS_OF_RATE if rate else CLIENTS)
        self.process = subprocess.Popen([pace, str(port), str(clients), str(rate), *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def begin_phase(self):
        with contextlib.suppress(BrokenPipeError):  # phases() reports what ended it
            self.process.stdin.write("\n")
            self.process.stdin.flush()

    def phases(self):
        """Ends it, and gives what it measured in each phase."""
        try:
            out, error = self.process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            raise ServerError("does not answer what came due while it saved") from None
        if self.process.returncode:
            raise ServerError(error.strip())
        return [json.loads(line) for line in out.splitlines()]


def resident(pid):
    """Bytes of memory that the process has, shared or not."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def private(pid):
    """Bytes that no other process shares. It takes some 30 ms a GB to count them."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            fields = (line.split() for line in file)
            return sum(int(field[1]) * 1024 for field in fields if field[0].startswith("Private_"))
    except OSError:  # it has ended
        return 0


def memory(server):
    """Bytes that a server and its children (other servers fork) have together: what they share is the server's."""
    pid = server.process.pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = file.read().split()
    return resident(pid) + sum(private(child) for child in children)


def save(server, watch=lambda: None):
    """BGSAVE until it is done; `watch` runs before it and all the while."""
    watch()
    server.client.call("BGSAVE")
    while True:
        watch()
        time.sleep(POLL_SECONDS)
        info = server.info("persistence")
        if info["rdb_bgsave_in_progress"] == "0":
            break
    if info["rdb_last_bgsave_status"] != "ok":
        raise ServerError("BGSAVE failed")


def save_under_load(pace, server, rate, saving, watch=lambda: None):
    """What pace.c measured before the save, and during it."""
    server.wait_until_idle()
    with Load(pace, server.port, rate, saving.requests) as load:
        time.sleep(WARM_UP_SECONDS)
        load.begin_phase()
        time.sleep(BEFORE_SECONDS)
        load.begin_phase()
        save(server, watch)
        _, before, during = load.phases()
    return before, during


def measure_times(pace, server, saving):
    """Figures of one save at the rate."""
    _, paced = save_under_load(pace, server, saving.rate, saving)
    rate = f"at {saving.rate:,}/s"
    return {f"longest latency {rate}, ms": paced["longest"] / 1e3, f"p99.9 of latency {rate}, ms": paced["p99.9"] / 1e3,
            f"duration {rate}, s": paced["seconds"]}


def measure_throughput(pace, server, saving):
    """Figures of one save under as many requests as get answered."""
    before, during = save_under_load(pace, server, 0, saving)
    if not during["requests"]:
        raise ServerError("answers nothing while it saves")
    return {BEFORE: before["seconds"] / before["requests"], DURING: during["seconds"] / during["requests"]}


def measure_memory(pace, server, saving):
    """The figure of another save at the rate, as counting the memory disturbs the load."""
    samples = []
    with contextlib.suppress(ServerError):  # not every build knows it
        server.client.call("MEMORY", "PURGE")  # what earlier saves have freed would be taken again
    save_under_load(pace, server, saving.rate, saving, lambda: samples.append(memory(server)))
    return {f"extra memory at {saving.rate:,}/s, MB": (max(samples) - samples[0]) / 1e6}


def filled(servers, saving, progress):
    """Those of the servers that could be filled, each with a snapshot to replace, as freeing a large file
    takes its time."""
    progress(f"{saving.name}: data")
    prepare_all(servers, saving.data, {})
    for server in servers:
        progress(f"{saving.name}: the first snapshot of {server.label}")
        try:
            prepare(server, saving.data, {})
            save(server)
        except ServerError as error:
            progress(f"{saving.name}: {server.label}: {error}", keep=True)
            continue
        yield server


def run_saving(servers, saving, rounds, pace, progress):
    """Name of a figure -> label -> the figure, in the best round, as what else goes on in the machine only adds;
    throughput, a sum of many requests, and memory are measured once."""
    able, best = list(filled(servers, saving, progress)), {}

    def take_turns(found, what, measure):
        for server in able:
            progress(f"{saving.name}: {what}, {server.label}")
            try:
                found.add(server, measure(pace, server, saving))
            except (OSError, ServerError) as error:
                progress(f"{saving.name}: {server.label}: {error}", keep=True)
    for what, measure, most in (("times", measure_times, rounds), ("throughput", measure_throughput, 1),
                                ("memory", measure_memory, 1)):
        found = Least(servers)
        for number in until_settled(most, found.lists, AGREE):
            take_turns(found, f"{what}, round {number + 1} of {most}", measure)
        best |= found.figures()
    for server in servers:
        empty(server)
    before, during = best.pop(BEFORE, {}), best.pop(DURING, {})
    best["throughput before / during"] = {label: during[label] and during[label] / before[label] for label in during}
    return {name: figures for name, figures in best.items() if figures}
