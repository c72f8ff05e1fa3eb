"""How late a busy machine wakes a thread that has slept."""
import threading
import time

SLEEP_SECONDS = 0.02


class Lateness(threading.Thread):
    """Measures from start() to stop(); `worst_seconds` is the longest time that a sleep has taken too much."""

    def __init__(self):
        super().__init__(daemon=True)
        self.worst_seconds = 0.0
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.is_set():
            begun = time.monotonic()
            time.sleep(SLEEP_SECONDS)
            self.worst_seconds = max(self.worst_seconds, time.monotonic() - begun - SLEEP_SECONDS)

    def stop(self):
        self.stopped.set()
        self.join()
