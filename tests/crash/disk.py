"""What a power cut may leave of a server's folder, by what power.c has noted.

Of each file there is what it had at its last fsync, or more, up to all of it; in each folder there are the names that
were there at its last fsync, or those of now, or some of these and some of those. What was never synchronized may be
missing, or empty.

Not so on real disks: blocks that were written beyond the certain ones, but not those before them, or rubbish there.
Renaming and fsync are taken to hold what they promise.
"""
import os
import shutil
import tempfile
from pathlib import Path

from libraries import build_library

HERE = Path(__file__).resolve().parent
NOT_DATA = {"log"}


# In the order in which they see a call: what does not happen is not noted.
SOURCES = (HERE.parent / "faults" / "faults.c", HERE / "power.c")


def build_libraries(folder):
    return [build_library(source, folder) for source in SOURCES]


class Disk:
    """Of the server with this folder. `environment` is what the server must be started with."""

    def __init__(self, libraries):
        self.slowest_seconds = 0.0  # that the last cut has found
        self.notes = Path(tempfile.mkdtemp(prefix="packlist-power."))
        self.faults = Path(f"{self.notes}.faults")
        self.hits = Path(f"{self.faults}.hits")
        self.environment = {
            **os.environ, "LD_PRELOAD": " ".join(map(str, libraries)), "PACKLIST_POWER": str(self.notes),
            "PACKLIST_FAULTS": str(self.faults),
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def remove(self):
        self.forget_kill()
        shutil.rmtree(self.notes)

    def kill_before(self, call, number, glob):
        """From now on the server is killed before the so-manieth such call on such a file (faults.c)."""
        rule = Path(f"{self.faults}.new")
        rule.write_text(f"{call} crash,nth={number} {glob}\n")
        rule.rename(self.faults)

    def has_killed(self):
        return self.hits.exists()

    def forget_kill(self):
        self.faults.unlink(missing_ok=True)
        self.hits.unlink(missing_ok=True)

    def read_notes(self):
        """({inode: certain size}, {path of a folder: {name: inode}}); notes how long the slowest fsync took."""
        sizes, folders = {}, {}
        self.slowest_seconds = 0.0
        notes = self.notes / "notes"
        for line in notes.read_text().splitlines(True) if notes.exists() else ():
            if not line.endswith("\n"):
                continue  # the server was killed while it wrote that
            words = line[:-1].split("\t")
            kind, inode, what = words[0].split(" ", 2)
            if kind == "F":
                size, milliseconds = map(int, what.split(" "))
                sizes[int(inode)] = size
                self.slowest_seconds = max(self.slowest_seconds, milliseconds / 1000)
            else:
                folders[what] = {name: int(number) for name, number in (word.rsplit(" ", 1) for word in words[1:])}
        return sizes, folders

    def cut(self, folder, chance):
        """Cuts the power of a folder whose server has been killed; returns what it did, as text."""
        folder = Path(folder).resolve()
        after, did = Path(tempfile.mkdtemp(prefix="packlist-cut.")), []
        Cut(self.notes, self.read_notes(), chance, did).folder(folder, after)
        for item in folder.iterdir():
            if item.name not in NOT_DATA:
                shutil.rmtree(item) if item.is_dir() else item.unlink()
        for item in after.iterdir():
            shutil.move(item, folder / item.name)
        after.rmdir()
        self.note_all_certain(folder)
        return did

    def note_all_certain(self, folder):
        """Notes that all that is there now is certain."""
        for kept in self.notes.iterdir():
            kept.unlink()
        with open(self.notes / "notes", "w") as notes:
            for path, folders, files in os.walk(folder):
                names = [name for name in folders + files if name not in NOT_DATA]
                entries = [(name, os.stat(f"{path}/{name}")) for name in names]
                for name, facts in entries:
                    if name in files:
                        notes.write(f"F {facts.st_ino} {facts.st_size} 0\n")
                        os.link(f"{path}/{name}", self.notes / str(facts.st_ino))
                listing = "".join(f"\t{name} {facts.st_ino}" for name, facts in entries)
                notes.write(f"D {os.stat(path).st_ino} {path}{listing}\n")


class Cut:
    def __init__(self, kept, notes, chance, did):
        self.kept, self.chance, self.did = kept, chance, did
        self.sizes, self.folders = notes
        self.lengths = {}  # that were chosen, by inode

    def folder(self, path, target):
        now = {item.name: item.inode() for item in os.scandir(path) if item.name not in NOT_DATA}
        certain = self.folders.get(str(path), {})
        what, names = self.chance.choice((("names of now", now), ("names that are certain", certain),
                                          ("some names of now", self.mix(now, certain))))
        if now != certain:
            self.did.append(f"{path.name}: {what}")
        for name, inode in names.items():
            if name in NOT_DATA:
                continue
            source = path / name
            if source.is_dir():
                (target / name).mkdir()
                self.folder(source, target / name)
            else:
                self.file(self.kept / str(inode) if (self.kept / str(inode)).exists() else source,
                          target / name, inode)

    def mix(self, now, certain):
        chosen = ((name, self.chance.choice((now, certain)).get(name)) for name in sorted(now.keys() | certain.keys()))
        return {name: inode for name, inode in chosen if inode is not None}

    def file(self, source, target, inode):
        size = source.stat().st_size
        certain = min(self.sizes.get(inode, 0), size)
        if inode not in self.lengths:
            self.lengths[inode] = self.chance.choice(
                (certain, size, self.chance.randint(certain, size), self.chance.randint(certain, size)))
        if certain < size:
            self.did.append(f"{target.name}: {self.lengths[inode]} bytes of {certain} to {size}")
        target.write_bytes(source.read_bytes()[:self.lengths[inode]])
