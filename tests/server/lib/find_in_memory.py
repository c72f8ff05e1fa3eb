"""Prints what matches a regular expression in the memory that a process can write to, each once, sorted.

    find_in_memory.py PID EXPRESSION
"""
import re
import sys

pid, expression = sys.argv[1], re.compile(sys.argv[2].encode())
found = set()
with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
    for line in maps:
        begin, end, rights = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line).groups()
        if not rights.startswith("rw"):
            continue
        at, end = int(begin, 16), int(end, 16)
        memory.seek(at)
        parts = []
        try:
            while at < end and (part := memory.read(end - at)):
                parts.append(part)
                at += len(part)
        except OSError:
            pass  # the process has given it back meanwhile
        found.update(expression.findall(b"".join(parts)))
for text in sorted(found):
    print(text.decode())
