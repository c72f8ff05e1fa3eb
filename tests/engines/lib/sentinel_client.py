"""A client library's way through a group of Sentinel: a program that writes and one that waits for jobs go on when the
primary is killed, and when Sentinel is told to make another server the primary.

The program gets the Sentinels' ports in SENTINEL_PORTS, and PASSWORD; its keys have the prefix of the group's world.
Called with "write", it pushes 1, 2, … to the list "written" for ever, and prints "written N" when WAIT has found N on a
replica. With "take", it takes jobs from the list "queue" with BLPOP for ever, and prints "took JOB", or "error TEXT"
for an error that the library raises."""
import tempfile

from deployed import PASSWORD, Program, call, check, info, run_tests, wait_for
from sentinels import NAME, Group


def push_job(group, job):
    """Pushes until a primary takes it."""
    wait_for("a primary takes the job", lambda: call(group.primary(), "RPUSH", group.world.prefix + "queue", job))


def check_goes_on(what, group, writer, taker, job):
    """After a change of the primary."""
    seen = len(writer.numbers("written"))
    wait_for("the writer goes on", lambda: len(writer.numbers("written")) > seen + 10)
    wait_for("the group is whole", group.is_whole)
    push_job(group, job)
    wait_for(f"{what}: the client that waits finds the new primary", lambda: f"took {job}" in taker.log_text())
    check(f"{what}: clients go on", True)


def client_test(name, command, environment=None, world=None):
    """`command`: the program, without its argument."""
    def test():
        group = Group(world=world)
        environ = {**(environment or {}), "PASSWORD": PASSWORD,
                   "SENTINEL_PORTS": ",".join(str(sentinel.port) for sentinel in group.sentinels)}
        with tempfile.TemporaryDirectory(prefix="packlist-engine.") as folder:
            writer, taker = (Program([*command, word], folder, environ) for word in ("write", "take"))
            try:
                wait_for("the writer writes", lambda: len(writer.numbers("written")) > 10)
                push_job(group, "first")
                wait_for("the first job is taken", lambda: "took first" in taker.log_text())
                old = group.primary()
                old.kill()
                wait_for("the Sentinels agree", lambda: group.agree(other_than=old))
                old.launch()
                check_goes_on(f"{name}: kill -9 of the primary", group, writer, taker, "second")
                old = group.primary()
                wait_for("the client waits", lambda: info(old, "clients")["blocked_clients"] != "0")
                # A planned change, as the README says: without the pause the old primary would go on for a moment.
                call(old, "CLIENT", "PAUSE", 60000, "WRITE")
                wait_for("a failover begins", lambda: call(group.sentinels[0], "SENTINEL", "FAILOVER", NAME) == "OK")
                wait_for("the Sentinels agree", lambda: group.agree(other_than=old))
                check_goes_on(f"{name}: SENTINEL FAILOVER", group, writer, taker, "third")
                check(f"{name}: a client that waits is told that its server is no primary any more",
                      "error UNBLOCKED" in taker.log_text(), taker.log_text())
                writer.end()
                there = {int(n) for n in call(group.primary(), "LRANGE", group.world.prefix + "written", 0, -1)}
                lost = sorted(set(writer.numbers("written")) - there)
                check(f"{name}: no acknowledged write is lost", not lost, lost)
            finally:
                print(f"--- what {name} printed at last:", *[line for program in (writer, taker) for line in
                      program.log_text().splitlines()[-8:]], sep="\n")
                for program in (writer, taker):
                    if program.process.poll() is None:
                        program.end()
        check(f"{name}: all servers end in order", group.stop())
    test.__doc__ = f"{name} through Sentinel"
    return test


def check_client(name, command, environment=None):
    run_tests(client_test(name, command, environment))
