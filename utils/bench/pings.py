"""How long other clients wait at most while a server does something: measured with PINGs that come due evenly."""
import time

from bench_servers import ServerError
from data import fill
from measure import prepare
from repeat import until_settled
from saving import WARM_UP_SECONDS, Load

PINGS_PER_SECOND = 5_000
AFTER_SECONDS = 2  # what the server does in steps, it mostly does in these


def longest_wait(server, pace, act):
    """Of a PING, in ms, during act() and after it."""
    server.wait_until_idle()
    with Load(pace, server.port, PINGS_PER_SECOND, [["PING"]]) as load:
        time.sleep(WARM_UP_SECONDS)
        load.begin_phase()
        act()
        time.sleep(AFTER_SECONDS)
        _, during = load.phases()
    return during["longest"] / 1000


def shortest_of_rounds(servers, row, rounds, measure, progress):
    """label -> what `measure(server)` gives in the best round, as what else goes on in the machine only adds; None
    where it gives nothing."""
    found = {server.label: [] for server in servers}
    for number in until_settled(rounds, found.values):
        for server in servers:
            progress(f"{row.name}: round {number + 1} of {rounds}, {server.label}")
            try:
                if figure := measure(server):
                    found[server.label].append(figure)
            except (ServerError, OSError) as error:
                progress(f"{row.name}: {server.label}: {error}", keep=True)
            server.wait_until_idle()
    return {label: min(figures, default=None) for label, figures in found.items()}


def run_command_stall(servers, row, rounds, pace, progress):
    """label -> the longest wait of a PING in ms."""
    def measure(server):
        prepare(server, row.data, {})
        fill(server.client, row.before)
        return longest_wait(server, pace, lambda: [server.client.call(*command) for command in row.commands])
    return shortest_of_rounds(servers, row, rounds, measure, progress)
