"""Libraries that are loaded before a server (LD_PRELOAD)."""
import os
import subprocess
from pathlib import Path


def build_library(source, folder):
    """The C file as a library in the folder; its path. OSError when the compiler refuses, with its words."""
    source = Path(source)
    library = Path(folder, source.stem + ".so")
    done = subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-O2", "-shared", "-fPIC", "-o", library, source,
                           "-ldl"], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{source.name} cannot be compiled:\n{done.stderr}")
    return library
