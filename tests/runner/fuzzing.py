"""Runs a fuzz target from its seeds and from the inputs that earlier fuzzing has kept."""
import os
import re
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

from programs import run_program, with_verdict

MERGE_LIMITS = ["-timeout=60", "-rss_limit_mb=1024", "-malloc_limit_mb=64"]
FUZZ_LIMITS = [*MERGE_LIMITS, "-print_final_stats=1"]


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def fuzz_seeds(target, work):
    """Folders that hold inputs: those of seeds (of the repository, and what tests/fuzz/seeds/<target> makes), and that
    of inputs that were kept (tests/fuzz/keep). What has to be made is made in `work`."""
    made, kept = emptied(work / "seeds"), emptied(work / "kept")
    maker, archive = Path("tests/fuzz/seeds", target), Path("tests/fuzz/kept", f"{target}.tar.xz")
    if maker.exists():
        subprocess.run([maker, made], check=True, stdin=subprocess.DEVNULL)
    if archive.exists():
        with tarfile.open(archive) as tar:
            for entry in tar:
                (kept / os.path.basename(entry.name)).write_bytes(tar.extractfile(entry).read())
    return [folder for folder in (Path("tests/fuzz/corpus", target), made) if folder.is_dir()], [kept]


def fuzzer(seconds, inputs):
    """A function that tries a target with so many inputs, besides the seeds, or for so long, whichever ends first;
    `inputs` may be None. The random seed is that of the environment, if there is one."""
    def run(command, limit, env, log):
        target = Path(command[0]).name
        work = Path(command[0]).parent / "found" / target
        (work / "corpus").mkdir(parents=True, exist_ok=True)
        seeds, kept = fuzz_seeds(target.removesuffix("_fuzz"), work)
        folders = [work / "corpus", *seeds, *kept]
        known = sum(len(os.listdir(folder)) for folder in folders)
        until = [f"-max_total_time={seconds}", *([f"-runs={known + inputs}"] if inputs else [])]
        until += [f"-seed={env['PACKLIST_SEED']}"] if "PACKLIST_SEED" in env else []
        started = time.monotonic()
        ended = run_program([*command, *until, *FUZZ_LIMITS, f"-artifact_prefix={work}/", *map(str, folders)],
                            limit, env, log)
        counts = re.findall(r"^stat::number_of_executed_units: *(\d+)", ended.output, flags=re.M)
        tried = max(int(counts[-1]) - known, 0) if counts else 0
        ended.output += f"note: fuzz/{target.removesuffix('_fuzz')}: {tried:,} inputs beside {known:,} seeds " \
                        f"in {time.monotonic() - started:.0f} s\n"
        passed = ended.status == 0 and tried > 0
        return with_verdict(ended, int(passed), int(not passed))
    return run
