"""Random places and searches.

Of equal distances the order is each server's own, and which of them COUNT leaves: what is sorted is asked for with
distances, and compared but for that.

check_geo compares searches in many places with the reference, and polygons with a Valkey 9, if PATH has one. There a
large polygon, or one near a pole, loses members: none is asked for.
"""
import re

from resp import Link, value_of
from valkey_commands import find_valkey

KEYS = [b"ga", b"gb", b"gc"]
DISTANCES = b"gd"  # what STOREDIST stores, which is no places
UNITS = [b"m", b"km", b"ft", b"mi", b"KM"]
METRES = {b"m": 1, b"km": 1000, b"ft": 0.3048, b"mi": 1609.34}
LATITUDE_MAX = 85.05112878
ROUNDS, SEARCHES = 60, 300
EARTH = 20015000.0  # half of it around, in metres
NUMBER = re.compile(rb"(?:\$\d+\r\n|,)(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\r\n")


def with_plain_numbers(reply):
    """The reply without the differences between texts of one number: the reference has sometimes more digits than are
    needed, and Valkey 17 places behind the point."""
    return NUMBER.sub(lambda match: b",%.14g\r\n" % float(match[1]), reply)


def text(number):
    return b"%.10g" % number


def random_center(rng):
    """Longitude and latitude: anywhere, at the edges of the map, or at those of cells."""
    roll = rng.random()
    if roll < 0.4:
        return rng.uniform(-180, 180), rng.uniform(-LATITUDE_MAX, LATITUDE_MAX)
    if roll < 0.6:
        return rng.choice([-1, 1]) * (180 - rng.choice([0, 1e-6, 0.01, 1]) * rng.random()), rng.uniform(-85, 85)
    if roll < 0.8:
        from_limit = rng.choice([0, 1e-6, 0.01, 3]) * rng.random()
        return rng.uniform(-180, 180), rng.choice([-1, 1]) * (LATITUDE_MAX - from_limit)
    parts = 2 ** rng.randint(1, 8)
    return (rng.randint(0, parts) / parts - 0.5) * 360, (rng.randint(0, parts) / parts - 0.5) * 2 * LATITUDE_MAX


def near(rng, center, degrees):
    """A place not far from the centre, or as far as the map goes."""
    longitude = center[0] + rng.uniform(-degrees, degrees)
    latitude = center[1] + rng.uniform(-degrees, degrees)
    if abs(longitude) > 180:
        longitude -= 360 * (1 if longitude > 0 else -1)
    return min(180, max(-180, longitude)), min(LATITUDE_MAX, max(-LATITUDE_MAX, latitude))


def point(rng, center=None, degrees=0):
    return list(map(text, near(rng, center or random_center(rng), degrees)))


def length(rng, metres):
    """A length of about so many metres, and its unit."""
    unit = rng.choice(UNITS)
    return text(metres / METRES[unit.lower()] * rng.choice([1, 1, rng.random(), 2])), unit


def random_metres(rng, degrees=0):
    if degrees and rng.random() < 0.7:
        return degrees * 111000 * rng.choice([0.05, 0.3, 1, 2])
    return rng.choice([0, 1e-3, 1, 500, 1e4, 2e5, 3e6, EARTH / 2, EARTH, 4 * EARTH, 1e300]) * rng.uniform(0.5, 1)


def shape(rng, degrees=0):
    width, unit = length(rng, random_metres(rng, degrees))
    if rng.random() < 0.5:
        return [b"BYRADIUS", width, unit]
    height = text(random_metres(rng, degrees) / METRES[unit.lower()])
    return [b"BYBOX", width, height, unit]


def polygon(rng, center, degrees):
    """Vertices around the centre, or in any order."""
    count = rng.randint(3, 9)
    vertices = [near(rng, center, degrees) for _ in range(count)]
    return [b"BYPOLYGON", b"%d" % count, *[part for vertex in vertices for part in map(text, vertex)]]


def some(rng, *choices):
    """Some of the optional arguments, in any order."""
    chosen = [choice for choice in choices if rng.random() < 0.4]
    rng.shuffle(chosen)
    return [part for choice in chosen for part in choice]


def order_and_count(rng):
    count = [b"COUNT", b"%d" % rng.choice([1, 2, 3, 10, 50, 400, 1 << 40])]
    return some(rng, [rng.choice([b"ASC", b"DESC", b"asc"])], count + rng.choice([[], [b"ANY"]]))


def details(rng):
    return some(rng, [b"WITHDIST"], [b"WITHHASH"], [b"WITHCOORD"])


def by_distance(reply):
    """The rows of a reply with distances: a list of those for each distance, in its order; of the last one, which COUNT
    may have cut, only how many."""
    groups = []
    for row in value_of(with_plain_numbers(reply)):
        if not groups or groups[-1][0] != row[1]:
            groups.append((row[1], []))
        groups[-1][1].append(row)
    return [(distance, sorted(map(repr, rows)) if rows is not groups[-1][1] else len(rows))
            for distance, rows in groups]


class GeoGenerator:
    """The generator of commands.py provides random."""

    def gkey(self):
        """Keys of their own; `reserve` is always a list."""
        return b"reserve" if self.random.random() < 0.02 else self.random.choice(KEYS)

    def place(self):
        return b"p%d" % self.random.randint(0, 40) if self.random.random() < 0.8 else b"%d" % self.random.randint(0, 9)

    def places(self):
        many = self.random.random() < 0.1
        center = random_center(self.random)
        return [part for _ in range(self.random.randint(1, 150 if many else 4))
                for part in (*point(self.random, center, 5), self.place())]

    def score_of_place(self):
        """Of a place, or about one. Above 2^53 the reference's digest does not always have the shortest text of a
        number, which is sure to be the same where most of its digits are zeros."""
        if self.random.random() < 0.25:
            return self.random.choice([10**9 * self.random.randrange(10**9), 1 << 62, -1 << 62])
        return self.random.getrandbits(self.random.choice([50, 52, 53])) - self.random.choice([0, 9])

    def geo_write(self):
        rng = self.random
        store = rng.choice([[b"STORE", rng.choice(KEYS)], [b"STOREDIST", DISTANCES]])
        radius = length(rng, random_metres(rng))
        return rng.choice([
            lambda: [b"GEOADD", self.gkey(), *self.places()],
            lambda: [b"GEOADD", self.gkey(), *some(rng, [b"NX"], [b"XX"], [b"ch"]), *self.places()],
            lambda: [b"GEOSEARCHSTORE", rng.choice(KEYS), self.gkey(), *self.center(), *shape(rng),
                     *order_and_count(rng)],
            lambda: [b"GEOSEARCHSTORE", DISTANCES, self.gkey(), *self.center(), *shape(rng), b"STOREDIST"],
            lambda: [b"GEORADIUS", self.gkey(), *point(rng), *radius, *order_and_count(rng), *store],
            lambda: [b"GEORADIUSBYMEMBER", self.gkey(), self.place(), *radius, *order_and_count(rng), *store],
            lambda: [b"ZADD", self.gkey(), b"%d" % self.score_of_place(), self.place()],
            lambda: [b"ZREM", self.gkey(), self.place()],
            lambda: [b"DEL", rng.choice(KEYS)],
        ])()

    def center(self):
        if self.random.random() < 0.6:
            return [b"FROMLONLAT", *point(self.random)]
        return [b"FROMMEMBER", self.place()]

    def geo_read(self):
        rng = self.random
        radius = length(rng, random_metres(rng))
        options = [*order_and_count(rng), *details(rng)]
        return rng.choice([
            lambda: [b"GEOPOS", self.gkey(), self.place(), self.place()],
            lambda: [b"GEOHASH", self.gkey(), self.place(), self.place()],
            lambda: [b"GEODIST", self.gkey(), self.place(), self.place(), *some(rng, [rng.choice(UNITS)])],
            lambda: [b"GEOSEARCH", self.gkey(), *self.center(), *shape(rng), *options],
            lambda: [b"GEOSEARCH", self.gkey(), *self.center(), *shape(rng), *options],
            lambda: [rng.choice([b"GEORADIUS", b"GEORADIUS_RO"]), self.gkey(), *point(rng), *radius, *options],
            lambda: [rng.choice([b"GEORADIUSBYMEMBER", b"GEORADIUSBYMEMBER_RO"]), self.gkey(), self.place(), *radius,
                     *options],
            lambda: [b"ZRANGE", rng.choice([DISTANCES, self.gkey()]), b"0", b"-1", b"WITHSCORES"],
        ])()

    def geo_command(self):
        """Sometimes with a mistake."""
        argv = self.geo_write() if self.random.random() < 0.5 else self.geo_read()
        roll = self.random.random()
        if roll < 0.04:
            argv.pop()
        elif roll < 0.1:
            argv[self.random.randrange(1, len(argv))] = self.random.choice(
                [b"x", b"", b"-1", b"0", b"181", b"86", b"inf", b"nan", b"1e400", b"m", b"ANY", b"STORE", b"COUNT"])
        elif roll < 0.14:
            argv.append(self.random.choice([b"ANY", b"COUNT", b"STORE", b"STOREDIST", b"WITHDIST", b"BYRADIUS", b"x"]))
        return argv


# --- Many places

def fill(links, rng, center, degrees, count):
    """Gives both servers the same places."""
    argv = [part for i in range(count) for part in (*point(rng, center, degrees), b"m%d" % i)]
    for link in links:
        link.call(b"DEL", b"g")
        link.call(b"GEOADD", b"g", *argv)


def search(rng, center, degrees):
    at = [b"FROMMEMBER", b"m%d" % rng.randrange(10)] if rng.random() < 0.3 else [
        b"FROMLONLAT", *point(rng, center, degrees * rng.choice([0, 0.3, 1.2]))]
    return [b"GEOSEARCH", b"g", *at, *shape(rng, degrees), *result(rng)]


def search_polygon(rng, center, degrees):
    middle = near(rng, center, degrees / 2)
    return [b"GEOSEARCH", b"g", *polygon(rng, middle, degrees * rng.choice([0.1, 0.4])), *result(rng)]


def result(rng):
    order = order_and_count(rng)
    return [*order, *([b"WITHDIST", *details(rng)] if order else details(rng))]


def are_same(argv, mine, theirs):
    if mine == theirs or with_plain_numbers(mine) == with_plain_numbers(theirs):
        return True
    is_sorted = {b"COUNT", b"ASC", b"DESC", b"asc"}.intersection(argv) and mine[:1] == theirs[:1] == b"*"
    return bool(is_sorted) and by_distance(mine) == by_distance(theirs)


def same_replies(links, commands):
    for argv in commands:
        mine, theirs = (link.call(*argv) for link in links)
        if not are_same(argv, mine, theirs):
            print(f"DIFFERENCE: {b' '.join(argv)!r}\n  packlist:  {mine!r:.1500}\n  reference: {theirs!r:.1500}")
            return False
    return True


def compare_searches(links, rng, rounds):
    """Several distributions of places; half of them are listpacks."""
    for number in range(rounds):
        center, degrees = random_center(rng), rng.choice([0.001, 0.1, 2, 30, 180])
        fill(links, rng, center, degrees, rng.choice([12, 100, 1000, 5000]))
        for link in links:
            link.call(b"HELLO", b"%d" % (2 + number % 2))
        if not same_replies(links, (search(rng, center, degrees) for _ in range(SEARCHES))):
            return False
    return True


def compare_polygons(links, rng, rounds):
    for _ in range(rounds):
        center, degrees = (rng.uniform(-150, 150), rng.uniform(-50, 50)), rng.choice([0.001, 0.1, 2, 10])
        fill(links, rng, center, degrees, rng.choice([12, 100, 1000, 5000]))
        if not same_replies(links, (search_polygon(rng, center, degrees) for _ in range(SEARCHES))):
            return False
    return True


def check_geo(servers, rng):
    passed = []
    if servers[1].redis_version() >= (8, 0):  # older ones write numbers in another way
        with Link(servers[0]) as mine, Link(servers[1]) as theirs:
            passed.append(compare_searches([mine, theirs], rng, ROUNDS))
    peer = find_valkey()
    if not peer:
        print("no valkey-server on PATH: polygons were not compared")
        return sum(passed), len(passed) - sum(passed)
    with Link(servers[0]) as mine, Link(peer) as theirs:
        passed.append(compare_polygons([mine, theirs], rng, ROUNDS))
    passed.append(peer.stop())
    return sum(passed), len(passed) - sum(passed)
