# What scripts in a root of their own (in_root) begin with: loopback works, no package is installed; and how they start and
# stop the packaged server.
set -euo pipefail
trap 'echo "$0: line $LINENO: $BASH_COMMAND" >&2' ERR
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
configuration=/etc/packlist/packlist.conf
python3 - <<'END'
import fcntl, socket, struct
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x49))  # SIOCSIFFLAGS: up, running
END
dpkg --purge packlist >/dev/null 2>&1 || true

wait_until() {
    local i
    for ((i = 0; i < 600; i++)); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    echo "$0: not in time: $*" >&2
    cat /var/log/packlist/packlist.log >&2 || true
    return 1
}
answers() {
    [[ "$(redis-cli ping)" == PONG ]]
}
start() {
    setpriv --reuid packlist --regid packlist --clear-groups /usr/bin/packlist-server $configuration &
    server=$!
    wait_until answers
}
stop() {
    kill "$server"
    wait "$server"
}
