/* packlist-check: checks whether data files are good. */
#include "base/memory/alloc.h"
#include "base/version.h"
#include "check/check.h"
#include "table/families.h"

#include <stdio.h>
#include <string.h>

enum status { STATUS_GOOD, STATUS_BAD, STATUS_USAGE };

static void print_help(FILE *out) {
    fputs("Usage: packlist-check [--fix [--yes]] [--for-other-servers] file...\n"
          "       packlist-check -v or --version\n"
          "       packlist-check -h or --help\n"
          "\n"
          "Checks snapshots (RDB), append-only files, and manifests of append-only files with all\n"
          "the files that they name. Says what is wrong, and where.\n"
          "\n"
          "  --fix   cut an append-only file behind its last whole command or transaction\n"
          "  --yes   without asking\n"
          "  --for-other-servers   call good what only Packlist has no type or command for\n"
          "\n"
          "Exit status:\n"
          "  0   all files are good, or were cut\n"
          "  1   a file is bad, or holds what packlist-server does not load\n"
          "  2   the arguments are wrong\n",
          out);
}

static void report_out_of_memory(size_t size) {
    fprintf(stderr, "packlist-check: out of memory, allocating %zu bytes\n", size);
}

/* Answers an option that is the only argument; false when it is not such an option. */
static bool answer_question(const char *argument) {
    if (!strcmp(argument, "-v") || !strcmp(argument, "--version")) {
        printf("packlist-check %s\n", PACKLIST_VERSION);
        return true;
    }
    if (strcmp(argument, "-h") != 0 && strcmp(argument, "--help") != 0) return false;
    print_help(stdout);
    return true;
}

/* Reads the options; returns the index of the first file, or 0 when something is wrong. */
static int parse_options(struct check_options *options, int argc, char **argv) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--fix")) {
            options->fix = true;
        } else if (!strcmp(argv[i], "--yes")) {
            options->yes = true;
        } else if (!strcmp(argv[i], "--for-other-servers")) {
            options->for_other_servers = true;
        } else if (!strcmp(argv[i], "--")) {
            i++;
            break;
        } else {
            fprintf(stderr, "packlist-check: unknown option %s\n", argv[i]);
            return 0;
        }
    }
    return i < argc ? i : 0;
}

int main(int argc, char **argv) {
    struct check_options options = {0};
    mem_on_out_of_memory(report_out_of_memory);
    command_table_init(command_families, NULL);
    if (argc == 2 && answer_question(argv[1])) return STATUS_GOOD;
    int first = parse_options(&options, argc, argv);
    if (first == 0) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    enum status status = STATUS_GOOD;
    for (int i = first; i < argc; i++)
        if (!check_path(&options, argv[i])) status = STATUS_BAD;
    return status;
}
