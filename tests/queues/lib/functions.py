"""Loads a library of utils/functions into the server under test."""
import sys
from pathlib import Path


def load(server, name):
    """Ends the program, skipped, when the server does not know how to load functions."""
    text = Path("utils/functions", f"{name}.lua").read_text(encoding="utf-8")
    try:
        server.call("FUNCTION", "LOAD", "REPLACE", text)
    except SystemExit as error:
        if "unknown" not in str(error):
            raise
        print(f"note: {error}", "0 passed, 0 failed, 1 skipped", sep="\n")
        sys.exit(0)
