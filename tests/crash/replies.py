"""Replies in RESP2, as the model makes them."""

OK, NO_KEY = (b"+OK",), (b"-ERR no such key",)


def encode(value):
    """A reply in RESP2; a tuple holds a line as it stands."""
    if isinstance(value, int):
        return b":%d\r\n" % value
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(map(encode, value))
    if isinstance(value, tuple):
        return value[0] + b"\r\n"
    return b"$%d\r\n%s\r\n" % (len(value), value)


def comparable_reply(reply):
    """There are two kinds of null: a client that has waited gets another one than one that could not wait."""
    return reply.replace(b"*-1\r\n", b"$-1\r\n")
