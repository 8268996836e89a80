# make                 build/libheaptide.so (the recorder) and build/heaptide (the command)
# make CC=clang-14     the same with another compiler
# make SAN=1           build/san/heaptide: the command under AddressSanitizer and UBSan
# make check           formatting, lint, include direction, what hook objects may import
# make unit            C unit tests (SAN=1: under the sanitizers)
# make test            installs what is missing, builds, runs everything: check, unit, benches, pytest (QUICK=1: without
#                      Mojo and benches)
# make demo            installs what is missing, builds, records and reports examples/demo.c, train.py and gpu.c
# make fuzz            fuzzes what reads files that may be anything, FUZZ_SECONDS=60 in all
# make wheel           dist/heaptide-*.whl
# make bench           ratios to the bare program and to peers (QUICK=1: fewer runs, ONLY=NAME: one bench)
# make format          formats C and Python in place
CC = gcc
CXX = g++
PYTHON = python3
SAN =
ARGS =
FUZZ_SECONDS = 60

BUILD = build$(if $(SAN),/san)
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' pyhooks/heaptide/__init__.py)

WARNINGS = -Wall -Wextra -Werror
# gcc's runtime linked in, as clang's is: as a library it would insist on coming before everything that tests preload.
SAN_FLAGS = $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all $(if $(findstring clang,$(CC)),,-static-libasan))
ALL_CFLAGS = -std=gnu11 -O2 -g -fPIC -fvisibility=hidden -fno-omit-frame-pointer -fno-semantic-interposition \
  $(WARNINGS) -pthread -D_GNU_SOURCE -DHEAPTIDE_VERSION='"$(VERSION)"' $(SAN_FLAGS) $(CFLAGS)
, := ,

# Static, so that neither file needs anything but libc where it is run.
ZSTD = -l:libzstd.a
JANSSON = -l:libjansson.a
PPROF = -l:libprotobuf-c.a
ZLIB = -l:libz.a
CURSES = -l:libncursesw.a -l:libtinfo.a

LIBRARY_SOURCES := $(wildcard native/*.c gpu/*.c pyhooks/*.c)
# What the command shares with the recorder.
SHARED_SOURCES := $(wildcard native/session.c native/text.c native/exec_look.c native/crc32.c)
# The pages of `heaptide flame` and `diff`: their HTML, CSS and JavaScript as strings in C.
PAGE_TEXT = $(BUILD)/page_text.c
COMMAND_SOURCES := $(wildcard cli/*.c) $(SHARED_SOURCES) $(PAGE_TEXT)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*_test.c))

object = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
# Written by the protobuf compiler.
GENERATED = $(BUILD)/gen/profile.pb-c

LIBRARY = $(if $(LIBRARY_SOURCES),$(BUILD)/libheaptide.so)
COMMAND = $(if $(wildcard cli/*.c),$(BUILD)/heaptide)

.PHONY: all check unit fuzz test bench-gate demo wheel bench format clean FORCE
.DELETE_ON_ERROR:

# The recorder is preloaded into programs that know nothing of the sanitizers: it is not built for them.
all: $(if $(SAN),,$(LIBRARY)) $(COMMAND) $(if $(SAN),,$(BUILD)/heaptide.1)

# Another compiler or other flags: compile everything again. A file that came or went: link again.
$(BUILD)/flags: CONTENT = $(CC) $(ALL_CFLAGS)
$(BUILD)/sources: CONTENT = $(LIBRARY_SOURCES) $(COMMAND_SOURCES)
$(BUILD)/flags $(BUILD)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CONTENT))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(ALL_CFLAGS) -Inative -MMD -MP -c -o $@ $<

$(PAGE_TEXT): $(wildcard cli/page/*)
	@mkdir -p $(@D)
	@echo '  PAGE $@'
	@$(PYTHON) cli/page/inline.py $@ cli/page/page.html cli/page/diff.html

# --exclude-libs keeps zstd's symbols from taking over those of a zstd in the program.
$(BUILD)/libheaptide.so: $(call object,$(LIBRARY_SOURCES)) $(BUILD)/flags $(BUILD)/sources
	@echo '  LINK $@'
	@$(CC) $(ALL_CFLAGS) -shared -Wl,--exclude-libs,ALL -Wl,-z,initfirst -Wl,-Bsymbolic-functions -Wl,-z,now -Wl,-z,defs -Wl,--as-needed -o $@ \
	  $(filter %.o,$^) $(ZSTD) -ldl $(LDFLAGS)

$(GENERATED).c $(GENERATED).h &: cli/profile.proto
	@mkdir -p $(@D)
	@echo '  PROTO $<'
	@protoc-c --proto_path=cli --c_out=$(@D) $<

$(BUILD)/obj/gen/profile.pb-c.o: $(GENERATED).c $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/obj/cli/export_pprof.o: $(GENERATED).h
$(BUILD)/obj/cli/export_pprof.o: ALL_CFLAGS += -I$(BUILD)/gen

# Taken in by the assembler (EMBED), which tells nobody.
$(BUILD)/obj/cli/help_topics.o: $(wildcard cli/completion/*/*)

$(BUILD)/heaptide: $(call object,$(COMMAND_SOURCES)) $(BUILD)/obj/gen/profile.pb-c.o $(BUILD)/flags $(BUILD)/sources
	@echo '  LINK $@'
	@$(CC) $(ALL_CFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(ZSTD) $(JANSSON) $(PPROF) $(ZLIB) $(CURSES) $(LDFLAGS)

$(BUILD)/heaptide.1: man/make_man.py $(BUILD)/heaptide
	@echo '  MAN $@'
	@$(PYTHON) $^ $@

# A unit test names what it is linked with at its top: `// sources: native/text.c native/sys.c`
unit_sources = $(shell sed -n 's|^// sources:||p' $(1))
define unit_rule
$(BUILD)/unit/$(notdir $(1:.c=)): $(call object,$(1) $(call unit_sources,$(1))) $(BUILD)/flags
	@mkdir -p $$(@D)
	@echo '  LINK $$@'
	@$$(CC) $$(ALL_CFLAGS) -Wl,--as-needed -o $$@ $$(filter %.o,$$^) $$(ZSTD) $$(JANSSON) -ldl -lm
endef
$(foreach test,$(wildcard tests/unit/*_test.c),$(eval $(call unit_rule,$(test))))
$(BUILD)/obj/tests/unit/%.o: ALL_CFLAGS += -Icli -Igpu -Ipyhooks
# A hook's two words copied by one SSE register would wait until the stores of both are through.
$(BUILD)/obj/native/%.o: ALL_CFLAGS += -mgeneral-regs-only

# The tests set signal handlers of their own: ASan leaves the signals alone.
unit: export ASAN_OPTIONS = handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0
unit: $(UNIT_TESTS)
	@for test in $(UNIT_TESTS); do echo "unit: $$test"; timeout 120 $$test || exit 1; done

fuzz: all
	tests/unit/fuzz $(FUZZ_SECONDS)

# Formatters of one fixed version, in their own venv.
TOOLS = build/tools/.done
$(TOOLS): tests/check/requirements.txt
	$(PYTHON) -m venv build/tools
	build/tools/bin/pip install -q --disable-pip-version-check -r $<
	@touch $@

check: $(TOOLS) $(call object,$(LIBRARY_SOURCES))
	tests/check/format
	$(PYTHON) tests/check/include_direction.py
	$(PYTHON) tests/check/hook_imports.py $(filter %.o,$^)

format: $(TOOLS)
	tests/check/format --write

test:
	.ci/install test
	$(MAKE) --no-print-directory all $(BUILD)/venv/.done $(if $(QUICK),,$(BUILD)/venv/.mojo)
	$(if $(QUICK),@echo "test: QUICK=1 leaves out the benches and Mojo (1 GB); its tests are skipped where it is not installed")
	@PATH=$(CURDIR)/$(BUILD)/venv/bin:$$PATH .ci/interpreters || echo "test: CPython 3.14 could not be fetched: it is not among the Pythons of the tests"
	$(BUILD)/venv/bin/pip install -q --disable-pip-version-check --no-deps --force-reinstall .
	$(MAKE) --no-print-directory check
	tests/check/clang $(BUILD)/clang
	$(MAKE) --no-print-directory unit
	$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=10
	@$(if $(QUICK),true,$(MAKE) --no-print-directory bench-gate); benches=$$?; \
	$(BUILD)/venv/bin/python -m pytest -n 2 tests $(ARGS) && exit $$benches

# The benches on a machine that may be busy: what passes in one of five tries passes.
bench-gate:
	$(PYTHON) bench/bench.py --quick --no-peers --tries 5

$(BUILD)/venv/.done: tests/requirements.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install -q --disable-pip-version-check -r $<
	@touch $@

$(BUILD)/venv/.mojo: tests/requirements-mojo.txt $(BUILD)/venv/.done
	$(@D)/bin/pip install -q --disable-pip-version-check -r $<
	@touch $@

demo:
	.ci/install demo
	$(PYTHON) -m venv $(BUILD)/demo-venv
	$(BUILD)/demo-venv/bin/pip install -q --disable-pip-version-check numpy
	@echo "demo: building heaptide (half a minute on two cores)"
	$(BUILD)/demo-venv/bin/pip install -q --disable-pip-version-check --no-deps --force-reinstall .
	$(PYTHON) examples/run_demo.py $(BUILD)/demo-venv

wheel:
	.ci/install wheel
	.ci/build-wheel

bench:
	.ci/install bench
	$(MAKE) --no-print-directory all
	$(PYTHON) bench/bench.py $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(ARGS)

clean:
	rm -rf build dist

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
