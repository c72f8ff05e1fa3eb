"""Queues over four servers without a proxy: a client library chooses the shard by the key, so blocking pops work.

The program gets the servers' ports in SHARD_PORTS. Called with "produce", it pushes job J, from 0 to JOBS - 1, to the
list "queue:Q" where Q is J modulo QUEUES, and prints "pushed J"; a job that met an error is tried again after the
others.
Called with "work Q", it takes jobs from "queue:Q" with a blocking pop for ever and prints "took J". The servers write
an append-only file with appendfsync always, and one is killed and comes back meanwhile."""
import contextlib
import tempfile

from deployed import Program, Trouble, call, check, run_tests, wait_for
from servers import start_packlist

SHARDS, QUEUES, JOBS = 4, 16, 500
OPTIONS = ["--appendonly", "yes", "--appendfsync", "always"]  # everysec may lose two seconds while the disk is slow


def start_shards():
    shards = [start_packlist(OPTIONS) for _ in range(SHARDS)]
    for i, shard in enumerate(shards):
        shard.name, shard.password = f"shard {i}", None
    return shards


def check_ring(name, command, environment=None):
    """`command`: the program, without its arguments."""
    def test():
        shards = start_shards()
        ports = ",".join(str(shard.port) for shard in shards)
        environ = {**(environment or {}), "SHARD_PORTS": ports, "JOBS": str(JOBS)}
        with tempfile.TemporaryDirectory(prefix="packlist-engine.") as folder:
            producer = Program([*command, "produce"], folder, environ)
            workers = [Program([*command, "work", str(queue)], folder, environ) for queue in range(QUEUES)]

            def taken():
                return [job for worker in workers for job in worker.numbers("took")]
            try:
                wait_for("jobs are taken", lambda: len(taken()) > 50)
                shards[0].process.kill()
                shards[0].process.wait()
                seen = len(taken())
                wait_for("jobs of other shards are taken while one is down", lambda: len(taken()) > seen + 10)
                shards[0].launch(*OPTIONS)
                wait_for("all jobs are pushed", lambda: len(set(producer.numbers("pushed"))) == JOBS)
                wait_for("no queue has a job left", lambda: not any(call(shard, "KEYS", "queue:*") for shard in shards))
                # A job may have been on its way to a worker when its server was killed: one for each queue.
                with contextlib.suppress(Trouble):
                    wait_for("the workers have printed what they took",
                             lambda: len(set(range(JOBS)) - set(taken())) <= QUEUES, patience=100)
                missing = sorted(set(range(JOBS)) - set(taken()))
                check(f"{name}: all jobs are done, but for those on their way to workers of a killed server",
                      len(missing) <= QUEUES, missing)
                counts = [int(dict(line.split(":", 1) for line in call(shard, "INFO", "stats").splitlines()
                                   if ":" in line)["total_commands_processed"]) for shard in shards]
                check(f"{name}: all shards have work", min(counts) > 20, counts)
            finally:
                print(f"--- what {name} printed at last:", *[line for program in (producer, workers[0]) for line in
                      program.log_text().splitlines()[-6:]], sep="\n")
                for program in (producer, *workers):
                    if program.process.poll() is None:
                        program.end()
        check(f"{name}: all servers end in order", all([shard.stop() for shard in shards]))
    test.__doc__ = f"{name} over {SHARDS} servers"
    run_tests(test)
