"""notify_receiver SOCKET FILE: receives datagrams as systemd does, and appends each to the file.

A message is one line, its assignments separated by blanks. SOCKET is a path, or @name for the abstract namespace. Ends
when its standard input does."""
import select
import socket
import sys

receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
name = sys.argv[1]
receiver.bind("\0" + name[1:] if name.startswith("@") else name)
with open(sys.argv[2], "w", buffering=1, encoding="utf-8") as out:
    print("ready", flush=True)
    while True:
        readable, _, _ = select.select([receiver, sys.stdin], [], [])
        if receiver in readable:
            out.write(" ".join(receiver.recv(65536).decode().split("\n")) + "\n")
        elif not sys.stdin.read(1):
            break
