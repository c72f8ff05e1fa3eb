# Packlist's only makefile: every source is found by wildcard, so adding a file needs no edit here.
#   make [all]     build/release/packlist-server and packlist-check
#   make fast      the same in build/release-fast, without link-time optimisation: a change of one file takes 2 s
#   make run       install what is missing, build, serve on port 6379, or PORT=7000, with redis.conf, in the
#                  foreground; the data lies in build/run
#   make test      install what is missing, build, run every test; the last line counts them
#   make soak      the random tests for longer and with new seeds: hours; SOAK_SECONDS for each fuzzer
#   make bench     measure beside the peers of this machine (utils/bench/README.md); BENCH='--quick …'
#   make lint      the rules of the sources (utils/lint), and of the branch's commit messages (utils/commit-message)
#   make hooks     have git check each commit message (utils/hooks)
#   make fuzz      long fuzzing runs, FUZZ_SECONDS each
#   make readme    bring the table of commands in docs/commands.md up to date
#   make dist      build/packlist-VERSION.tar.gz: the tree as it is committed
#   make deb       a Debian package in build/deb, of the tree as it is
#   make unit, make benchmarks, make install     build unit tests, micro-benchmarks (make test does, too); the usual
#   make clean     remove all of build/ but build/run
# Variables; each choice of the first seven builds in a folder of its own, build/<variant>/
#   CC=clang                      another compiler
#   SANITIZE=address,undefined    with sanitizers, and the C library's malloc instead of jemalloc; or =thread
#   LZF=system                    the system's liblzf in place of src/base/lzf/lzf_own.c
#   TINY=1                        -DTINY_LIMITS: small constants, so that tests reach the rare paths
#   PLAIN=1                       no code for one kind of processor: what other machines than x86-64 run
#   CHECKED=1                     the server checks values and databases after commands that change them;
#                                 with sanitizers it also moves their memory all the time (reclaim/defrag.c)
#   FAST=1                        no link-time optimisation; make test ONLY=… sets it where the test allows it
#   WERROR=1                      warnings are errors; make test, make lint and .ci/run set it
#   THREADED=1                    for make test and make soak: only tests with I/O threads that have all clients
#   V=1                           show whole commands
#   ONLY='unit/sds server/basics' for make test: only what begins so, and only what that needs is built
#   CPPFLAGS, CFLAGS, LDFLAGS, DESTDIR, PREFIX=/usr/local
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 3600
SOAK_SECONDS ?= 600
comma := ,
VARIANT := $(or $(subst $(comma),-,$(SANITIZE)),release)$(patsubst %,-%,$(notdir \
	$(filter-out gcc,$(CC))))$(if $(CHECKED),-checked)$(patsubst %,-%-lzf,$(LZF))$(if $(PLAIN),-plain)$(if $(TINY),-tiny)$(if $(FAST),-fast)
$(if $(filter-out system,$(LZF)),$(error LZF is 'system', or not given))
B := build/$(VARIANT)
SERVER := $(B)/packlist-server
MAKEFLAGS += --no-builtin-rules --no-print-directory
say = $(if $(V),,@echo '  $(1)  $@';)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

# A newer compiler may have warnings that nobody has seen yet: only developers have to heed them.
# With sanitizers compiling takes half as long with -O1 -g1, and running no longer; CFLAGS=-g for a debugger.
c_flags = -std=gnu17 $(if $(SANITIZE),-O1 -g1,-O2 -g) -Wall -Wextra $(if $(WERROR),-Werror) $(CPPFLAGS) $(CFLAGS)
compile = $(c_flags) -Isrc $(if $(TINY),-DTINY_LIMITS) $(if $(CHECKED),-DPACKLIST_CHECKED) $(if $(PLAIN),-DPACKLIST_PLAIN)
# luaS_newlstr of liblua5.1.a gives way to that of src/lua/interned.c, its tables to src/lua/tables.c.
libraries = -luv -lxxhash -lssl -lcrypto -l:liblua5.1.a -Wl,--wrap=luaS_newlstr -lm -lpthread $(if $(LZF),-llzf)
ifdef SANITIZE
compile += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -DPACKLIST_LIBC_MALLOC
link = -fsanitize=$(filter-out fuzzer-no-link,$(SANITIZE))
else
libraries += -ljemalloc
# Functions of libraries are bound at the start: their addresses are read-only then, and binding one later would leave
# registers, with parts of what was copied last, on the stack.
link = -Wl,-z,relro,-z,now
# Link-time optimisation of the server where the compiler can keep plain code in the objects too: tests,
# which link in no time without it, and lint read the same objects. It does nothing for -O0.
lto := $(if $(findstring gcc,$(CC)),$(if $(TINY)$(FAST)$(filter -O0,$(CFLAGS)),,-flto=auto -ffat-lto-objects))
endif
# Tests compile twice as fast so, and most run no longer: they wait, or call what is tested.
compile_test = $(compile) -Og

other_lzf := src/base/lzf/lzf_$(if $(LZF),own,system).c
objects := $(patsubst %.c,$(B)/%.o,$(filter-out $(other_lzf),$(wildcard src/*/*.c src/*/*/*.c)))
unit_helpers := $(patsubst %.c,$(B)/%.o,$(filter-out %_test.c,$(wildcard tests/unit/*.c)))
# With small constants there are unit tests only, in which modules that make the server of the others appear in few
# places: the rest of these is not compiled. A test that needs more of it fails to link: add the object here, or the
# test to not_tiny if no constant matters to it.
server_modules := admin aof check commands main replication requests server
tiny_needs := admin/client_filter admin/command_syntax commands/sort_order commands/strings/string_edit commands/text_queue replication/history/backlog
not_tiny := tests/unit/command_files_test.c tests/unit/keysizes_test.c
archived := $(if $(TINY),$(filter-out $(foreach module,$(server_modules),$(B)/src/$(module)/%),$(objects)) $(tiny_needs:%=$(B)/src/%.o),$(objects))
unit_tests := $(patsubst %.c,$(B)/%,$(filter-out $(if $(TINY),$(not_tiny)),$(wildcard tests/unit/*_test.c)))
client_tests := $(patsubst %.c,$(B)/%,$(wildcard tests/clients/*_test.c))
faults := $(B)/tests/faults/faults.so
fuzz_helpers := $(patsubst %.c,$(B)/%.o,$(filter-out %_fuzz.c,$(wildcard tests/fuzz/*.c)))
fuzzers := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/*_fuzz.c))
benchmarks := $(patsubst %.c,$(B)/%,$(wildcard utils/bench/*.c))

documents := README.md $(wildcard docs/*.md docs/bench/*.md docs/bench/*.svg)
manual := $(B)/man/packlist-server.1 $(B)/man/packlist-check.1 $(B)/man/packlist.conf.5
# Read only where they are used. The version stands in one place, and the day of its release in another.
version = $(shell sed -n 's/.*PACKLIST_VERSION "\(.*\)"/\1/p' src/base/version.h)
released = $(shell sed -n 's/^\#\# $(version) (\(.*\))$$/\1/p' CHANGELOG.md)

.PHONY: all fast folder run test soak lint hooks fuzz bench readme unit clients faults fuzzers benchmarks objects man dist deb install clean
.DELETE_ON_ERROR .SECONDARY:
all: $(SERVER) $(B)/packlist-check
fast:
	@$(MAKE) FAST=1 all
folder:
	@echo $(B)
objects: $(objects)
unit: $(unit_tests)
clients: $(client_tests)
faults: $(faults)
fuzzers: $(fuzzers)
benchmarks: $(benchmarks)

$(SERVER): $(filter-out $(B)/src/check/%,$(objects))
	$(call say,$(if $(lto),optimise all files at once and link,link))$(if $(lto),utils/while-waiting )$(CC) $(compile) $(lto) $(link) $(LDFLAGS) $^ $(libraries) -o $@
$(B)/packlist-check: $(filter $(B)/src/check/%,$(objects)) $(B)/libpacklist.a
	$(call say,link)$(CC) $(compile) -fno-lto $(link) $(LDFLAGS) $^ $(archive_libraries) -o $@

# For programs that take objects from the archive: liblua5.1.a needs one of these, and that needs more of it.
archive_libraries = -Wl,--start-group $(B)/libpacklist.a $(libraries) -Wl,--end-group

# Everything but what programs begin with, as an archive: a test pulls in just what it needs.
$(B)/libpacklist.a: $(filter-out %/main.o,$(archived))
	@rm -f $@
	$(call say,ar)$(AR) rcs $@ $^

$(B)/src/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(call say,cc)$(CC) $(compile) $(lto) -MMD -MP -c $< -o $@

$(B)/tests/%.o: tests/%.c Makefile
	@mkdir -p $(@D)
	$(call say,cc)$(CC) $(compile_test) -Itests -MMD -MP -c $< -o $@

$(unit_tests): %: %.o $(unit_helpers) $(B)/libpacklist.a
	$(call say,link)$(CC) -fno-lto $(link) $(LDFLAGS) $^ $(archive_libraries) -lcmocka -llzf -o $@

# Loaded before the server, it needs no sanitizer and gets none.
$(faults): tests/faults/faults.c Makefile
	@mkdir -p $(@D)
	$(call say,cc)$(CC) $(c_flags) -fPIC -shared $< -o $@

$(client_tests): %: %.o
	$(call say,link)$(CC) $(link) $(LDFLAGS) $^ -lcmocka -lhiredis -levent -lpthread -o $@

$(fuzzers): %: %.o $(fuzz_helpers) $(B)/libpacklist.a
	$(call say,link)$(CC) $(link) -fsanitize=fuzzer $(LDFLAGS) $^ $(archive_libraries) -llzf -o $@

$(benchmarks): $(B)/%: %.c $(B)/libpacklist.a
	@mkdir -p $(@D)
	$(call say,cc)$(CC) $(compile) -fno-lto $(link) $(LDFLAGS) $^ $(archive_libraries) -o $@

# It runs in build/run, to which the relative `dir` of redis.conf leads.
run:
	@deps/install build
	@$(MAKE) all
	@mkdir -p build/run
	@for old in dump.rdb appendonlydir; do [ ! -e $$old ] || \
		echo "make run: $$old is not read: the data lies in build/run. Move it there to go on with it."; done
	@[ -e build/run/redis.conf ] || cp redis.conf build/run # CONFIG REWRITE changes the copy
	@echo "make run: data and redis.conf in build/run; if the port is taken: make run PORT=7000"
	@cd build/run && exec ../../$(SERVER) redis.conf $(if $(PORT),--port $(PORT))
test soak lint: export WERROR := 1
# tests/run builds what its tests need, by make and with the variables of this command.
test:
	@deps/install build test
	@tests/run --variables '$(MAKEOVERRIDES)' $(ONLY)
soak:
	@deps/install build test
	@FUZZ_SECONDS=$(SOAK_SECONDS) tests/run --soak --variables '$(MAKEOVERRIDES)' $(ONLY)
fuzz:
	@deps/install build test
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run --variables '$(MAKEOVERRIDES)' fuzz
bench:
	@deps/install build bench
	@$(MAKE) all benchmarks
	@utils/bench/run --build $(B) $(BENCH)
lint: objects
	@utils/lint $(B)
	@utils/commit-message --branch
hooks:
	@utils/commit-message --install
readme: all
	@utils/commands-table $(SERVER) docs/commands.md

$(B)/man/packlist-server.1: $(SERVER)
	$(call say,man)utils/man-page program $(version) $(released) $< 'key-value server that speaks the Redis protocol' >$@
$(B)/man/packlist-check.1: $(B)/packlist-check
	$(call say,man)utils/man-page program $(version) $(released) $< 'check the files of packlist-server' >$@
$(B)/man/packlist.conf.5: redis.conf
	$(call say,man)utils/man-page config $(version) $(released) $< 'configuration of packlist-server' >$@
$(manual): utils/man-page $(wildcard utils/manual/*) CHANGELOG.md src/base/version.h | $(B)/man
$(B)/man:
	@mkdir -p $@
man: $(manual)

dist:
	@mkdir -p build
	git archive --prefix=packlist-$(version)/ -o build/packlist-$(version).tar.gz HEAD
deb:
	@deps/install build deb
	@utils/deploy/make-deb $(version)
install: all man
	install -D -t $(DESTDIR)$(PREFIX)/bin $(SERVER) $(B)/packlist-check
	install -D -m 644 redis.conf $(DESTDIR)$(PREFIX)/share/packlist/redis.conf
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(filter %.1,$(manual))
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man5 $(filter %.5,$(manual))
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/packlist/LICENSE
	@for name in $(documents); do \
		install -D -m 644 $$name $(DESTDIR)$(PREFIX)/share/doc/packlist/$$name || exit; done
clean:
	[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name run -exec rm -rf {} +
-include $(shell find $(B) -name '*.d' 2>/dev/null)
