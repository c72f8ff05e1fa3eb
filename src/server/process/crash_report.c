#define _GNU_SOURCE /* for gettid and the names of registers */

#include "server/process/crash_report.h"

#include "base/files/file.h"
#include "base/log/log.h"
#include "base/text/number.h"
#include "base/version.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "server/process/symbols.h"
#include "session/clients.h"
#include "session/session.h"
#include "table/command.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

enum {
    REPORT_SECONDS = 10,    /* a report that takes longer is stuck, for example on a lock */
    STACK_SIZE = 256 << 10, /* bytes; enough for INFO */
    FRAMES_MAX = 100
};

static const int crash_signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
enum { CRASH_SIGNALS = sizeof(crash_signals) / sizeof(crash_signals[0]) };

static char alternate_stack[STACK_SIZE] __attribute__((aligned(16)));

/* The report that is being written. */
static struct {
    atomic_int thread; /* id of the thread that writes it; 0 = none */
    volatile sig_atomic_t signal;
    struct engine *engine; /* a signal handler gets no argument for it */
} report;

/* --- Text, without stdio and heap memory --- */

struct line {
    char text[256];
    size_t len;
};

/* Appends bytes; cuts what does not fit. */
static void add_bytes(struct line *line, const char *bytes, size_t len) {
    size_t room = sizeof(line->text) - line->len;
    if (len > room) len = room;
    memcpy(line->text + line->len, bytes, len);
    line->len += len;
}

static void add(struct line *line, const char *text) {
    add_bytes(line, text, strlen(text));
}

static void add_number(struct line *line, int64_t value) {
    char digits[INT64_TEXT_MAX];
    add_bytes(line, digits, number_format_int64(digits, value));
}

/* Appends a number, padded with zeros to `least` digits. */
static void add_hex(struct line *line, uint64_t value, size_t least) {
    enum { DIGITS = 16 };
    char digits[DIGITS];
    size_t at = DIGITS;
    for (; value > 0 || DIGITS - at < least; value >>= 4)
        digits[--at] = "0123456789abcdef"[value & 15];
    add_bytes(line, digits + at, DIGITS - at);
}

static void write_bytes(int fd, const char *bytes, size_t len) {
    size_t written;
    file_write(fd, bytes, len, &written);
}

static void write_text(int fd, const char *text) {
    write_bytes(fd, text, strlen(text));
}

/* Begins a line as Redis's signal handlers do, without the local time: the interrupted thread may
 * hold its lock. */
static struct line begin_line(void) {
    struct line line = {.len = 0};
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    add_number(&line, getpid());
    add(&line, ":signal-handler (");
    add_number(&line, now.tv_sec);
    add(&line, ") ");
    return line;
}

static void end_line(int fd, struct line *line) {
    if (line->len == sizeof(line->text)) line->len--;
    add(line, "\n");
    write_bytes(fd, line->text, line->len);
}

/* --- Registers and stack --- */

struct processor_register {
    const char *name;
    uint64_t value;
};

/* Reads the registers of the interrupted code, the program counter first. Returns their number. */
static size_t read_registers(const ucontext_t *context, struct processor_register *out) {
    size_t count = 0;
#if defined(__x86_64__)
    static const struct {
        const char *name;
        int index;
    } names[] = {{"RIP", REG_RIP}, {"RSP", REG_RSP}, {"RBP", REG_RBP}, {"RAX", REG_RAX},
                 {"RBX", REG_RBX}, {"RCX", REG_RCX}, {"RDX", REG_RDX}, {"RDI", REG_RDI},
                 {"RSI", REG_RSI}, {"R8 ", REG_R8},  {"R9 ", REG_R9},  {"R10", REG_R10},
                 {"R11", REG_R11}, {"R12", REG_R12}, {"R13", REG_R13}, {"R14", REG_R14},
                 {"R15", REG_R15}, {"EFL", REG_EFL}};
    for (; count < sizeof(names) / sizeof(names[0]); count++)
        out[count] = (struct processor_register){
            names[count].name, (uint64_t)context->uc_mcontext.gregs[names[count].index]};
#elif defined(__aarch64__)
    static const char *const names[] = {"X0 ", "X1 ", "X2 ", "X3 ", "X4 ", "X5 ", "X6 ", "X7 ",
                                        "X8 ", "X9 ", "X10", "X11", "X12", "X13", "X14", "X15",
                                        "X16", "X17", "X18", "X19", "X20", "X21", "X22", "X23",
                                        "X24", "X25", "X26", "X27", "X28", "X29", "X30"};
    out[count++] = (struct processor_register){"PC ", context->uc_mcontext.pc};
    out[count++] = (struct processor_register){"SP ", context->uc_mcontext.sp};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        out[count++] = (struct processor_register){names[i], context->uc_mcontext.regs[i]};
#else
    (void)context, (void)out;
#endif
    return count;
}

enum { REGISTERS_MAX = 40 };

static void write_registers(int fd, const ucontext_t *context) {
    struct processor_register registers[REGISTERS_MAX];
    size_t count = read_registers(context, registers);
    write_text(fd, "\n------ REGISTERS ------\n");
    if (count == 0) write_text(fd, "Not known on this architecture.\n");
    for (size_t i = 0; i < count;) {
        struct line line = {.len = 0};
        for (size_t column = 0; column < 4 && i < count; column++, i++) {
            add(&line, column > 0 ? " " : "");
            add(&line, registers[i].name);
            add(&line, ":");
            add_hex(&line, registers[i].value, 16);
        }
        end_line(fd, &line);
    }
}

/* Like backtrace_symbols_fd, which does not find static functions. `is_return`: the address follows
 * a call, which may be the last instruction of its function. */
static void write_frame(int fd, const struct symbols *symbols, void *address, bool is_return) {
    size_t offset = 0;
    const char *name = symbols_find(symbols, (uintptr_t)address - is_return, &offset);
    if (!name) {
        backtrace_symbols_fd(&address, 1, fd);
        return;
    }
    struct line line = {.len = 0};
    add(&line, "packlist-server(");
    add(&line, name);
    add(&line, "+0x");
    add_hex(&line, offset + is_return, 1);
    add(&line, ")[0x");
    add_hex(&line, (uintptr_t)address, 1);
    add(&line, "]");
    end_line(fd, &line);
}

static void write_stack(int fd, const ucontext_t *context) {
    struct processor_register registers[REGISTERS_MAX];
    void *frames[FRAMES_MAX];
    struct symbols symbols = symbols_open();
    write_text(fd, "\n------ STACK TRACE ------\n");
    /* After a call of a wrong address, only the program counter shows it. */
    if (read_registers(context, registers) > 0) {
        write_text(fd, "EIP:\n");
        write_frame(fd, &symbols, (void *)(uintptr_t)registers[0].value, false);
    }
    write_text(fd, "Backtrace:\n");
    int count = backtrace(frames, FRAMES_MAX);
    for (int i = 0; i < count; i++) write_frame(fd, &symbols, frames[i], true);
    symbols_close(&symbols);
    write_text(fd, "\n------ STACK TRACE DONE ------\n");
}

/* --- State of the server, which may be damaged --- */

static void write_client(struct engine *engine, int fd) {
    const struct outbox *outbox = engine->clients->outbox;
    struct session *session = outbox ? outbox->owner : NULL;
    write_text(fd, "\n------ CURRENT CLIENT ------\n");
    if (!session) {
        write_text(fd, "No client was being served.\n");
        return;
    }
    char peer[CONN_NAME_MAX];
    struct line line = {.len = 0};
    add(&line, "last command: ");
    add(&line, session->requester.last_command ? session->requester.last_command->name : "none");
    end_line(fd, &line);
    line.len = 0;
    add(&line, "id=");
    add_number(&line, (int64_t)session->id);
    add(&line, " db=");
    add_number(&line, session->requester.database);
    add(&line, " resp=");
    add_number(&line, session->protocol);
    add(&line, " flags=0x");
    add_hex(&line, session->flags, 1);
    add(&line, " addr=");
    add(&line, conn_peer_name(conn_of_session(session), peer));
    end_line(fd, &line);
}

/* Runs the command INFO for a client that does not exist. */
static void write_info(struct engine *engine, int fd) {
    write_text(fd, "\n------ INFO OUTPUT ------\n");
    const struct command *info = command_find_written(NULL, SLICE("info"));
    if (!engine->keyspaces || !info) return;
    const struct slice argv[] = {SLICE("info"), SLICE("everything")};
    struct reply reply;
    reply_init(&reply, 0);
    struct call call = call_of_server(engine, 0);
    call.argv = argv;
    call.argc = sizeof(argv) / sizeof(argv[0]);
    call.command = info;
    call.reply = &reply;
    info->run(&call);
    const char *text = memchr(reply.data, '\n', reply.len); /* after the line with the length */
    if (text) write_bytes(fd, text + 1, reply.len - (size_t)(text + 1 - reply.data));
}

/* --- The report --- */

/* Returns whether this is the thread that runs commands. */
static bool is_event_loop(void) {
    return gettid() == getpid();
}

static void write_cause(int fd, int signum, const siginfo_t *info) {
    struct line line = begin_line();
    add(&line, "Packlist " PACKLIST_VERSION " (redis_version " PACKLIST_REDIS_VERSION
               ") crashed by signal: ");
    add_number(&line, signum);
    add(&line, ", si_code: ");
    add_number(&line, info->si_code);
    end_line(fd, &line);
    line = begin_line();
    if (info->si_code <= 0) { /* not raised by the processor */
        add(&line, "Sent by process: ");
        add_number(&line, info->si_pid);
    } else {
        add(&line, "Accessing address: 0x");
        add_hex(&line, (uintptr_t)info->si_addr, 1);
    }
    end_line(fd, &line);
    if (is_event_loop()) return;
    char name[17] = ""; /* 16 bytes with their end */
    prctl(PR_GET_NAME, name);
    line = begin_line();
    add(&line, "In thread ");
    add_number(&line, gettid());
    add(&line, ", ");
    add(&line, name);
    add(&line, ", which runs no commands");
    end_line(fd, &line);
}

static void write_report(struct engine *engine, int fd, int signum, const siginfo_t *info,
                         const ucontext_t *context) {
    write_text(fd, "\n\n=== PACKLIST BUG REPORT START: Cut & paste starting from here ===\n");
    write_cause(fd, signum, info);
    write_registers(fd, context);
    write_text(fd, "\n------ LAST LOG LINES ------\n");
    log_write_recent(fd);
    write_stack(fd, context);
    if (is_event_loop()) {
        write_client(engine, fd);
        write_info(engine, fd);
    } else {
        write_text(fd, "\nThe event loop went on meanwhile, so its data was not read.\n");
    }
    write_text(fd, "\n------ MEMORY TEST ------\n"
                   "Not done: crash-memcheck-enabled has no effect.\n"
                   "\n=== PACKLIST BUG REPORT END. Make sure to include from START to END. ===\n");
}

static _Noreturn void die_by(int signum) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signum);
    sigaction(signum, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(signum);
    _exit(128 + signum); /* never reached */
}

static void allow_alarm(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(REPORT_SECONDS);
}

static void on_crash(int signum, siginfo_t *info, void *context) {
    int writer = 0;
    if (!atomic_compare_exchange_strong(&report.thread, &writer, (int)gettid())) {
        if (writer == gettid()) die_by(report.signal);
        for (;;) pause(); /* the other thread's report, or its alarm, ends the process */
    }
    report.signal = signum;
    allow_alarm();
    int fd = log_open();
    write_report(report.engine, fd, signum, info, context);
    die_by(signum);
}

static void on_alarm(int signum, siginfo_t *info, void *context) {
    (void)signum, (void)info;
    if (report.signal) die_by(report.signal);
    int saved_errno = errno;
    int fd = log_open();
    struct line line = begin_line();
    end_line(fd, &line);
    write_text(fd, "Received SIGALRM\n");
    write_stack(fd, context);
    log_close(fd);
    errno = saved_errno;
}

/* --- Handlers --- */

static bool has_handler(int signum, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction now;
    return sigaction(signum, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
           now.sa_sigaction == handler;
}

static bool has_no_handler(int signum) {
    struct sigaction now;
    return sigaction(signum, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
}

static void set_handler(int signum, int flags, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | flags};
    action.sa_sigaction = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signum, &action, NULL);
}

void crash_report_configure(struct engine *engine) {
    bool wanted = engine->config.crash_log_enabled;
    for (size_t i = 0; i < CRASH_SIGNALS; i++) {
        int signum = crash_signals[i];
        if (wanted && has_no_handler(signum))
            set_handler(signum, SA_NODEFER, on_crash); /* to notice a second crash */
        else if (!wanted && has_handler(signum, on_crash))
            sigaction(signum, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    }
}

void crash_report_start(struct engine *engine) {
    void *frame;
    report.engine = engine;
    backtrace(&frame, 1); /* the first call allocates memory */
    sigaltstack(&(stack_t){.ss_sp = alternate_stack, .ss_size = STACK_SIZE}, NULL);
    set_handler(SIGALRM, SA_RESTART, on_alarm);
    crash_report_configure(engine);
}
