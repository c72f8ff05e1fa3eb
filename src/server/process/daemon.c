#include "server/process/daemon.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

bool daemon_begin(int *to_parent) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    pid_t pid = fork();
    if (pid < 0) return false;
    if (pid > 0) {
        char word;
        close(ends[1]);
        _exit(read(ends[0], &word, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(ends[0]);
    *to_parent = ends[1];
    setsid();
    return true;
}

static void leave_terminal(void) {
    int null = open("/dev/null", O_RDWR);
    if (null < 0) return;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    if (null > STDERR_FILENO) close(null);
}

void daemon_ready(int to_parent) {
    if (to_parent < 0) return;
    leave_terminal();
    ssize_t written = write(to_parent, "r", 1);
    (void)written; /* if the parent is gone, nothing is lost */
    close(to_parent);
}
