"""Real work beside the rows of redis-benchmark: connections that work together, and jobs of queue libraries."""
import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

from bench_servers import ServerError
from measure import empty, prepare, prepare_all
from repeat import medians, until_sure

ROOT = Path(__file__).resolve().parents[2]
QUEUES, INSTALLED = ROOT / "tests/queues", ROOT / "build/clients"
QUEUE_SECONDS = 300


# --- Connections that work together (exchange.c)

def load(program, server, row, members):
    """Server CPU microseconds per operation of one run of exchange.c."""
    command = [program, *map(str, (server.port, row.groups, row.rounds, row.random_keys))]
    for member in members:
        command += [str(member.count), member.first, str(len(member.first_reply)),
                    member.request, str(len(member.reply))]
    server.wait_until_idle()
    before = server.cpu_seconds()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise ServerError(done.stderr.decode("utf-8", "replace").strip())
    return (server.cpu_seconds() - before) / (row.groups * row.rounds) * 1e6


def run_exchange(servers, row, rounds, program, floors, progress):
    """label, or "floor" -> median CPU microseconds per operation; None where the server refuses it."""
    found = {label: [] for label in [server.label for server in servers] + ["floor"]}
    first = row.floor[0]
    floor = floors.start(len(first.request), first.reply, to_all=not row.floor[-1].request)
    with contextlib.ExitStack() as stack:
        if floor:
            stack.callback(floor.stop)
        turns = [(server.label, server, row.members) for server in servers]
        turns += [("floor", floor, row.floor)] if floor else []
        prepare_all(servers, row.data, {})
        for number in until_sure(rounds, found):
            for label, server, members in turns:
                progress(f"{row.name}: round {number + 1}, {label}")
                try:
                    if server is not floor:
                        prepare(server, row.data, {})
                    found[label].append(load(program, server, row, members))
                except ServerError as error:
                    progress(f"{row.name}: {label}: {error}", keep=True)
    return medians(found)


# --- Jobs of queue libraries (tests/queues)

def why_not(library):
    """Why the library cannot run here, as text, or None."""
    installed, skipped = INSTALLED / library, INSTALLED / f"{library}.skipped"
    if skipped.exists():
        return skipped.read_text(encoding="utf-8").strip()
    return None if installed.exists() else f"not installed; `tests/clients/install {library}` does that"


def cpu_per_job(server, library, jobs):
    """Microseconds, as the harness of the libraries measures them; it runs in a group of processes of its own."""
    environment = {**os.environ, "PACKLIST_PORT": str(server.port), "QUEUE_MEASURE": str(jobs)}
    process = subprocess.Popen([QUEUES / library / "run"], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        out, _ = process.communicate(timeout=QUEUE_SECONDS)
    except subprocess.TimeoutExpired:
        raise ServerError(f"not done after {QUEUE_SECONDS} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode:
        raise ServerError(out.strip()[-300:])
    return json.loads(out.splitlines()[-1])["cpu_us_per_job"]


def run_queue(servers, row, rounds, progress):
    """label -> median CPU microseconds per job, None where it fails; nothing where the library is not installed."""
    if reason := why_not(row.library):
        progress(f"{row.name}: left out: {reason}", keep=True)
        return {}
    found = {server.label: [] for server in servers}
    for number in until_sure(rounds, found):
        for server in servers:
            progress(f"{row.name}: round {number + 1}, {server.label}")
            try:
                prepare(server, (), {})
                server.holds = None
                found[server.label].append(cpu_per_job(server, row.library, row.jobs))
            except ServerError as error:
                progress(f"{row.name}: {server.label}: {error}", keep=True)
            empty(server)
    return medians(found)
