"""Bytes that are no proper requests: both servers must answer the same and close in the same cases."""
from resp import Link, encode

PIECES = [b"*", b"$", b"\r\n", b"\n", b"\r", b"1", b"3", b"-1", b"0", b"99999999999999999999", b"PING",
          b"*1\r\n$4\r\nPING\r\n", b"*1\r\n", b"$4\r\n", b"PING\r\n", b"ECHO 'a b'\r\n", b'ECHO "\\x41\\n"\r\n',
          b"ECHO 'unbalanced\r\n", b'ECHO "a"b\r\n', b"   \r\n", b"\x00", b"*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n",
          b"*-1\r\n", b"*0\r\n", b"*1000000000000\r\n", b"$-5\r\n", b"$600000000\r\n", b"POST / HTTP/1.1\r\n",
          b"Host: here\r\n", b"GET k\r\n", b"*1\r\n*1\r\n", b"*1\r\n+OK\r\n", b":5\r\n", b"_\r\n", b"ping\n",
          b"*1\r\n$0\r\n\r\n", b"*1\r\n$4abc\r\nPING\r\n", b"*+1\r\n", b"* 1\r\n", b"*01\r\n$4\r\nPING\r\n"]
ROUNDS = 150
TOO_LONG = [b"x" * 70000, b"*" + b"1" * 70000, b"*1\r\n$" + b"1" * 70000]


# After so many seconds of silence a reply counts as complete; the second limit is tried when the replies differ
# under the first one, because the machine may be busy.
QUIET_SECONDS = (0.05, 3)


def answer(server, payload, quiet_seconds):
    link = Link(server)
    try:
        link.send(payload)
        return link.until_closed(quiet_seconds)
    except (BrokenPipeError, ConnectionResetError):
        return b"", True
    finally:
        link.close()


def check_malformed(servers, rng):
    passed = failed = 0
    payloads = [b"".join(rng.choice(PIECES) for _ in range(rng.randint(1, 6)))
                for _ in range(ROUNDS)] + PIECES + TOO_LONG
    for payload in payloads:
        payload = encode([b"PING"]) + payload
        for quiet_seconds in QUIET_SECONDS:
            mine, theirs = (answer(server, payload, quiet_seconds) for server in servers)
            if mine == theirs:
                break
        if mine == theirs:
            passed += 1
        else:
            failed += 1
            print(f"DIFFERENCE after the bytes {payload[:200]!r} ({len(payload)} in all)\n"
                  f"  packlist:  {mine!r}\n  reference: {theirs!r}")
    return passed, failed
