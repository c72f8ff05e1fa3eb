"""Random commands on consumer groups, for a reference from Redis 8 on: older ones count what is read otherwise. Idle
times are either none or very long, so that both servers agree."""
import re

GROUPS = [b"g", b"h", b"group of others"]
CONSUMERS = [b"c", b"d", b"e", b"", b"12"]
IDLE = [b"0", b"0", b"0", b"500000", b"-1", b"x"]

TIME_AND_COUNT = re.compile(rb":(\d+)\r\n(:\d+\r\n)")
TIMES_OF_CONSUMERS = re.compile(rb"(idle|inactive|seen-time|active-time)\r\n:\d+\r\n")


def without_times(reply):
    """A reply of XPENDING or XINFO without what depends on the clock."""
    return TIMES_OF_CONSUMERS.sub(rb"\1", TIME_AND_COUNT.sub(rb"\2", reply))


class GroupGenerator:
    """The generator of commands.py provides random, count, options; that of streams.py keys and ids."""

    def group(self):
        return self.random.choice(GROUPS[:2] if self.random.random() < 0.9 else GROUPS)

    def consumer(self):
        return self.random.choice(CONSUMERS[:3] if self.random.random() < 0.8 else CONSUMERS)

    def pending_id(self):
        """An id that is probably pending: the entries have ids that `old_id` and ms-* make."""
        ms = getattr(self, "stream_ms", 1) - self.random.randint(0, 20)
        return b"%d-%d" % (max(ms, 0), self.random.randint(0, 2)) if self.random.random() < 0.7 else self.old_id()

    def pending_ids(self):
        return [self.pending_id() for _ in range(self.random.randint(1, 6))]

    def entries_read(self):
        """At most as many as any stream has: Redis 8.0 and Valkey do not lower what is more."""
        return self.options([b"ENTRIESREAD", self.random.choice([b"0", b"-1", b"-2", b"x"])])

    def xgroup(self):
        key, group = self.xkey(), self.group()
        return [b"XGROUP", *self.random.choice([
            lambda: [b"CREATE", key, group, self.random.choice([b"0", b"$", self.old_id()]),
                     *self.options([b"MKSTREAM"]), *self.entries_read()],
            lambda: [b"CREATE", key, group, b"0", b"MKSTREAM"],
            lambda: [b"SETID", key, group, self.random.choice([b"0", b"$", self.old_id(), self.old_id()]),
                     *self.entries_read()],
            lambda: [b"CREATECONSUMER", key, group, self.consumer()],
            lambda: [b"DELCONSUMER", key, group, self.consumer()],
            lambda: [b"DESTROY", key, group] if self.random.random() < 0.2 else [b"SETID", key, group, b"$"],
            lambda: [b"FOO", key, group],
        ])()]

    def xreadgroup(self):
        keys = [self.xkey() for _ in range(self.random.choice([1, 1, 1, 2, 3]))]
        ids = [b">" if self.random.random() < 0.7 else self.random.choice([b"0", b"0", self.old_id(), b"$", b"+"])
               for _ in keys]
        return [b"XREADGROUP", b"GROUP", self.group(), self.consumer(),
                *self.options([b"COUNT", self.random.choice([b"1", b"2", b"5", b"0", b"-1", b"x"])], [b"NOACK"],
                              [b"BLOCK", self.random.choice([b"1", b"-1", b"x"])]), b"STREAMS", *keys,
                *(ids if self.random.random() < 0.98 else ids[:-1])]

    def xclaim(self):
        return [b"XCLAIM", self.xkey(), self.group(), self.consumer(), self.random.choice(IDLE), *self.pending_ids(),
                *self.options([b"IDLE", self.random.choice([b"0", b"1000000", b"-5", b"x"])],
                              [b"TIME", self.random.choice([b"1000", b"99999999999999", b"-1", b"x"])],
                              [b"RETRYCOUNT", self.random.choice([b"0", b"7", b"-1", b"x"])], [b"FORCE"], [b"JUSTID"],
                              [b"LASTID", self.old_id()], [b"FOO"])[:self.random.choice([0, 1, 2, 3, 4, 6])]]

    def xautoclaim(self):
        return [b"XAUTOCLAIM", self.xkey(), self.group(), self.consumer(), self.random.choice(IDLE),
                self.random.choice([b"0", b"-", b"0-0", self.bound(), self.pending_id()]),
                *self.options([b"COUNT", self.random.choice([b"1", b"2", b"10", b"0", b"-1", b"x"])], [b"JUSTID"],
                              [b"FOO"][:self.random.random() < 0.05])]

    def xpending(self):
        if self.random.random() < 0.4:
            return [b"XPENDING", self.xkey(), self.group()]
        return [b"XPENDING", self.xkey(), self.group(), *self.options([b"IDLE", self.random.choice(IDLE)]),
                self.bound(), self.bound(), self.random.choice([b"1", b"3", b"100", b"0", b"-1", b"x"]),
                *self.options([self.consumer()])]

    def group_command(self):
        return self.random.choice([
            self.xgroup, self.xgroup, self.xreadgroup, self.xreadgroup, self.xreadgroup, self.xclaim, self.xautoclaim,
            self.xpending, self.xpending,
            lambda: [b"XACK", self.xkey(), self.group(), *self.pending_ids()],
            lambda: [b"XACK", self.xkey(), self.group(), *self.pending_ids()],
            lambda: [b"XINFO", b"GROUPS", self.xkey()],
            lambda: [b"XINFO", b"GROUPS", self.xkey()],
            lambda: [b"XINFO", b"CONSUMERS", self.xkey(), self.group()],
            lambda: [b"XINFO", b"STREAM", self.xkey(), b"FULL", *self.options([b"COUNT", self.count()])],
        ])()
