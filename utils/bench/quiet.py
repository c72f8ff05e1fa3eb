"""Whether the machine does nothing but measure: what was measured while it did more is measured again."""
import os
import time

MOST = 0.05           # of all cores: what other programs may use
SAMPLE_SECONDS = 2
WAIT_SECONDS = 60     # at most, before a row is measured again
PATIENCE_SECONDS = 600  # for waiting and measuring again, in the whole run
TICKS = os.sysconf("SC_CLK_TCK")


def machine_seconds():
    """(busy, all) seconds of all cores together since the machine started. Interrupts do not count as busy: those of
    the loopback device belong to the load, and some kernels count them apart from the processes. What a hypervisor
    took away does."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, idle, disk, interrupts, soft, stolen = map(int, file.readline().split()[1:9])
    busy = user + nice + system + stolen
    return busy / TICKS, (busy + idle + disk + interrupts + soft) / TICKS


def own_seconds(servers):
    """CPU time of this program, of its children that have ended, and of the servers with theirs."""
    mine = os.times()
    seconds = mine.user + mine.system + mine.children_user + mine.children_system
    for server in servers:
        with open(f"/proc/{server.process.pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        seconds += sum(map(int, fields[11:15])) / TICKS
    return seconds


class Watch:
    """What other programs use from here on."""

    def __init__(self, servers=()):
        self.servers = servers
        self.begin = machine_seconds(), own_seconds(servers)

    def others_share(self):
        """Of all cores, from 0 to 1."""
        (busy, total), own = machine_seconds(), own_seconds(self.servers)
        (busy_before, total_before), own_before = self.begin
        others = busy - busy_before - (own - own_before)
        return max(0.0, others / max(1 / TICKS, total - total_before))


def share_now():
    watch = Watch()
    time.sleep(SAMPLE_SECONDS)
    return watch.others_share()


class Patience:
    """Measures what was disturbed again, as long as that takes no longer than `seconds` in the whole run."""

    def __init__(self, servers, seconds, progress):
        self.servers, self.left, self.progress = servers, seconds, progress

    def best_of(self, name, measure):
        """(what `measure()` gives, the share of other programs meanwhile) when they disturbed it least."""
        watch = Watch(self.servers)
        best, share = measure(), watch.others_share()
        while share > MOST and self.left > 0:
            self.progress(f"{name}: other programs used {share:.0%} of the machine; measured again", keep=True)
            began = time.monotonic()
            while time.monotonic() - began < min(WAIT_SECONDS, self.left) and share_now() > MOST:
                self.progress(f"{name}: waits until the machine is quiet")
            watch = Watch(self.servers)
            another, another_share = measure(), watch.others_share()
            if another_share < share:
                best, share = another, another_share
            self.left -= time.monotonic() - began
        return best, share
