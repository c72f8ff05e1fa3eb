"""Places (keys b"g…"), which are sorted sets: what commands do to them, and random commands."""

LATITUDE_MAX = 85.05112878
STEPS = 26
EVERYWHERE = (b"FROMLONLAT", b"0", b"0", b"BYRADIUS", b"30000", b"km")


def cell(longitude, latitude):
    """The score of a place."""
    across = int((longitude + 180) / 360 * (1 << STEPS))
    up = int((latitude + LATITUDE_MAX) / (2 * LATITUDE_MAX) * (1 << STEPS))
    return sum((across >> bit & 1) << 2 * bit + 1 | (up >> bit & 1) << 2 * bit for bit in range(STEPS))


class GeoModel:
    """The model of model.py provides values and members."""

    def GEOADD(self, key, *arguments):
        options = {word for word in arguments if word in (b"NX", b"XX", b"CH")}
        parts = [word for word in arguments if word not in options]
        there, added, changed = self.members(key), 0, 0
        for longitude, latitude, member in zip(parts[::3], parts[1::3], parts[2::3]):
            if (b"NX" if member in there else b"XX") in options:
                continue
            score = cell(float(longitude), float(latitude))
            added += member not in there
            changed += there.get(member) != score
            there[member] = score
        return changed if b"CH" in options else added

    def GEOSEARCHSTORE(self, target, source, *_everywhere):
        found = self.values.get(source, {}).copy()
        self.drop(target)
        if found:
            self.values[target] = found
        return len(found)


class GeoGenerator:
    """The generator of commands.py provides chance, key."""

    def add_places(self):
        key = self.key(b"g")
        if self.chance.random() < 0.2:
            return self.chance.choice((
                [b"GEOSEARCHSTORE", key, self.key(b"g"), *EVERYWHERE],
                [b"ZREM", key, b"place %d" % self.chance.randrange(30)]))
        options = self.chance.choice(([], [], [b"NX"], [b"XX"], [b"CH"]))
        return [b"GEOADD", key, *options, *[part for _ in range(self.chance.choice((1, 1, 4, 20)))
                                            for part in self.somewhere()]]

    def somewhere(self):
        return (b"%.6f" % self.chance.uniform(-180, 180), b"%.6f" % self.chance.uniform(-85, 85),
                b"place %d" % self.chance.randrange(30))
