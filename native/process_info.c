#include "process_info.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "sys.h"
#include "text.h"

#define PAGE_BYTES 4096u
#define PATH_BYTES 4096u
#define COMMAND_LINE_BYTES (256u * 1024) // read from /proc after attach; a longer one is cut

static struct process_info info = {.exe = "", .argv = "", .rank = UINT32_MAX}; // written at start-up only

const struct process_info *process_info(void) { return &info; }

// ---- command line

static void argv_copy(int argc, char **argv) {
  size_t bytes = 0;
  for (int i = 0; i < argc; i++) bytes += strlen(argv[i]) + 1;
  char *copy = bytes ? sys_map(bytes) : NULL;
  if (!copy) return;
  info.argv = copy;
  info.argv_bytes = bytes;
  info.argc = (uint32_t)argc;
  for (int i = 0; i < argc; i++) {
    size_t length = strlen(argv[i]) + 1;
    memcpy(copy, argv[i], length);
    copy += length;
  }
}

static void argv_read(void) {
  char *copy = sys_map(COMMAND_LINE_BYTES);
  size_t bytes;
  if (!copy || !sys_read_all("/proc/self/cmdline", copy, COMMAND_LINE_BYTES, &bytes)) return;
  info.argv = copy;
  info.argv_bytes = bytes && copy[bytes - 1] ? bytes + 1 : bytes; // a cut one still ends with its NUL
  for (size_t i = 0; i < info.argv_bytes; i++) info.argc += copy[i] == 0;
}

// ---- executable

// `given` as seen from the working directory of this moment.
static void path_make_absolute(char *path, const char *given) {
  struct text text;
  text_start(&text, path, PATH_BYTES);
  if (!given) return;
  if (given[0] != '/') {
    long length = sys_call3(SYS_getcwd, (long)path, PATH_BYTES - 1, 0);
    if (length <= 0) return;
    text.length = (size_t)length - 1;
    text_add(&text, "/");
  }
  text_add(&text, given);
}

// A program started through the loader (`/lib64/ld-linux-x86-64.so.2 ./program`): the loader then makes the program's
// name argv[0].
static bool is_loader(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld.so", 5) == 0 || strncmp(name, "ld-2", 4) == 0;
}

static void exe_read(void) {
  char *path = sys_map(PATH_BYTES);
  if (!path) return;
  long bytes = sys_call4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, PATH_BYTES - 1);
  // Without /proc: what the kernel was given to execute.
  if (bytes <= 0) path_make_absolute(path, (const char *)getauxval(AT_EXECFN));
  if (is_loader(path) && info.argc) memset(path, 0, PATH_BYTES), path_make_absolute(path, info.argv);
  info.exe = path;
}

// ---- rank

static const char *const rank_variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

static const char *environment_value(char **environment, const char *name) {
  size_t length = strlen(name);
  for (char **entry = environment; entry && *entry; entry++)
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return NULL;
}

static void rank_read(char **environment) {
  for (size_t i = 0; i < sizeof rank_variables / sizeof *rank_variables; i++) {
    const char *value = environment_value(environment, rank_variables[i]);
    uint64_t rank;
    if (!value || !text_decimal(value, strlen(value), &rank) || rank >= UINT32_MAX) continue;
    info.rank = (uint32_t)rank;
    return;
  }
}

void process_info_init(int argc, char **argv, char **environment) {
  if (argv)
    argv_copy(argc, argv);
  else
    argv_read();
  exe_read();
  rank_read(environment);
}

// ---- resident memory

static uint64_t decimal_at(const char *text) {
  uint64_t value = 0;
  while (*text == ' ' || *text == '\t') text++;
  while (*text >= '0' && *text <= '9') value = value * 10 + (uint64_t)(*text++ - '0');
  return value;
}

// /proc/self/statm: size resident shared ..., in pages.
uint64_t process_rss_bytes(void) {
  char text[128];
  size_t bytes;
  if (!sys_read_all("/proc/self/statm", text, sizeof text, &bytes)) return 0;
  const char *resident = strchr(text, ' ');
  return resident ? decimal_at(resident) * PAGE_BYTES : 0;
}

// VmHWM belongs to this image; ru_maxrss also knows those before an exec.
uint64_t process_peak_rss_bytes(void) {
  char text[2048]; // VmHWM is within the first kilobyte
  size_t bytes;
  const char *high = sys_read_all("/proc/self/status", text, sizeof text, &bytes) ? strstr(text, "\nVmHWM:") : NULL;
  if (high) return decimal_at(high + sizeof "\nVmHWM:" - 1) * 1024;
  struct rusage usage;
  return sys_call3(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

// ---- heaptide's own memory

#define LOOK_PAGES 4096u // 16 MiB; mincore answers a byte a page

struct own_sum {
  unsigned char *pages;
  uint64_t resident;
};

// Large tables are reserved whole and fill from the front: behind a stretch without a page nothing is looked for.
static void own_add(uintptr_t start, uintptr_t end, void *context) {
  struct own_sum *sum = context;
  uint64_t before;
  do {
    size_t bytes = end - start < LOOK_PAGES * PAGE_BYTES ? end - start : LOOK_PAGES * PAGE_BYTES;
    if (sys_call3(SYS_mincore, (long)start, (long)bytes, (long)sum->pages) != 0) return;
    before = sum->resident;
    for (size_t page = 0; page < bytes / PAGE_BYTES; page++) sum->resident += sum->pages[page] & 1;
    start += bytes;
  } while (start < end && sum->resident > before);
}

uint64_t process_own_bytes(void) {
  struct own_sum sum = {.pages = sys_map(LOOK_PAGES)};
  if (!sum.pages) return 0;
  sys_own_each(own_add, &sum);
  sys_unmap(sum.pages, LOOK_PAGES);
  return sum.resident * PAGE_BYTES;
}
