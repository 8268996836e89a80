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

// Who sets a process's number among all of its job; the launcher closest to the program first.
static const struct rank_variable {
  const char *name;
  const char *beside; // has to be there too: the name alone is too common a word
} rank_variables[] = {
    {"RANK", "WORLD_SIZE"},         // torchrun: PyTorch's docs, elastic/run, "Environment Variables"
    {"OMPI_COMM_WORLD_RANK", NULL}, // Open MPI: mpirun(1), "Environmental variables"
    {"MV2_COMM_WORLD_RANK", NULL},  // MVAPICH2: its user guide
    {"PMIX_RANK", NULL},            // launchers that speak PMIx: its standard, "PMIX_RANK"
    {"PMI_RANK", NULL},             // MPICH's Hydra and Intel MPI: the PMI they speak
    {"SLURM_PROCID", NULL},         // srun(1), "OUTPUT ENVIRONMENT VARIABLES"
};

static const char *environment_value(char **environment, const char *name) {
  size_t length = strlen(name);
  for (char **entry = environment; entry && *entry; entry++)
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return NULL;
}

static void rank_read(char **environment) {
  for (size_t i = 0; i < sizeof rank_variables / sizeof *rank_variables; i++) {
    const struct rank_variable *variable = &rank_variables[i];
    const char *value = environment_value(environment, variable->name);
    uint64_t rank;
    if (variable->beside && !environment_value(environment, variable->beside)) continue;
    if (!value || !text_decimal(value, strlen(value), &rank) || rank >= UINT32_MAX) continue;
    info.rank = (uint32_t)rank;
    return;
  }
}

// ---- resident memory

static uint64_t decimal_at(const char *text) {
  uint64_t value = 0;
  while (*text == ' ' || *text == '\t') text++;
  while (*text >= '0' && *text <= '9') value = value * 10 + (uint64_t)(*text++ - '0');
  return value;
}

static struct process_memory original; // in a copy; 0: ask the kernel

// The kernel's figures of resident memory leave out pages of the hugetlb pools, which have a line of their own.
static uint64_t status_bytes(const char *status, const char *line) {
  const char *found = strstr(status, line);
  return found ? decimal_at(found + strlen(line)) * 1024 : 0;
}

uint64_t process_resident_in(const char *status) {
  return status_bytes(status, "\nVmRSS:") + status_bytes(status, "\nHugetlbPages:");
}

#define STATUS_BYTES 4096 // the lines of memory are within the first two kilobytes

static bool has_huge_pages; // the machine has some; else the shorter file does
static struct {
  int pid;
  uint64_t bytes;
} highest_seen; // a forked child begins anew

static void huge_pages_look(void) {
  char text[4096];
  size_t bytes;
  has_huge_pages = sys_read_all("/proc/meminfo", text, sizeof text, &bytes) && status_bytes(text, "\nHugetlb:") > 0;
}

static uint64_t rss_with_huge_pages(void) {
  static char text[STATUS_BYTES + 1]; // not on the stack of a hook; the last byte stays 0, whoever else reads too
  size_t bytes;
  if (!sys_read_all("/proc/self/status", text, STATUS_BYTES, &bytes)) return 0;
  uint64_t now_bytes = process_resident_in(text);
  if (highest_seen.pid != sys_pid()) highest_seen.bytes = 0;
  highest_seen.pid = sys_pid();
  if (now_bytes > highest_seen.bytes) highest_seen.bytes = now_bytes;
  return now_bytes;
}

struct process_memory process_memory_now(void) {
  return (struct process_memory){process_rss_bytes(), process_peak_rss_bytes()};
}
void process_memory_set(const struct process_memory *memory) { original = *memory; }

// /proc/self/statm: size resident shared ..., in pages.
uint64_t process_rss_bytes(void) {
  if (original.rss_bytes) return original.rss_bytes;
  if (has_huge_pages) return rss_with_huge_pages();
  char text[128];
  size_t bytes;
  if (!sys_read_all("/proc/self/statm", text, sizeof text, &bytes)) return 0;
  const char *resident = strchr(text, ' ');
  return resident ? decimal_at(resident) * PAGE_BYTES : 0;
}

// VmHWM belongs to this image; ru_maxrss also knows those before an exec. Huge pages are those at the last look.
uint64_t process_peak_rss_bytes(void) {
  if (original.peak_rss_bytes) return original.peak_rss_bytes;
  char text[STATUS_BYTES];
  size_t bytes;
  uint64_t high = sys_read_all("/proc/self/status", text, sizeof text, &bytes) ? status_bytes(text, "\nVmHWM:") : 0;
  if (high) high += status_bytes(text, "\nHugetlbPages:");
  if (high) return highest_seen.pid == sys_pid() && highest_seen.bytes > high ? highest_seen.bytes : high;
  struct rusage usage;
  return sys_call3(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

// ---- all of it

void process_info_init(int argc, char **argv, char **environment) {
  if (argv)
    argv_copy(argc, argv);
  else
    argv_read();
  exe_read();
  rank_read(environment);
  huge_pages_look();
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
