// `heaptide doctor`: what this machine offers, what is missing, and the way to get it.
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "install_command.h"
#include "library.h"
#include "memory.h"
#include "options.h"
#include "problem.h"
#include "report_input.h"
#include "symbolizer_find.h"
#include "target.h"
#include "text_out.h"

// What a check found: one line, and for something missing what it is for and how to get it.
struct finding {
  bool there;
  char text[PATH_MAX + 128];
  const char *purpose;  // what does not work without it
  const char *packages; // to install, NULL: none
  const char *remedy;   // without packages: what to do
};

struct check {
  const char *name;
  bool needed; // `doctor` without names fails without it
  void (*look)(struct finding *finding);
};

static void found(struct finding *finding, const char *what) {
  finding->there = true;
  snprintf(finding->text, sizeof finding->text, "%s", what);
}

static void missing(struct finding *finding, const char *what, const char *purpose) {
  finding->there = false;
  finding->purpose = purpose;
  snprintf(finding->text, sizeof finding->text, "%s", what);
}

static bool program_find(const char *name, struct target *target) {
  int error;
  return target_find(name, target, &error) == 0;
}

static void look_library(struct finding *finding) {
  struct library library;
  if (library_find(&library))
    found(finding, library.path);
  else
    missing(finding, "libheaptide.so is not there", "heaptide run: nothing can be recorded");
  finding->remedy = "install heaptide again: pip install --force-reinstall heaptide";
}

// True when `path --version` runs and ends with 0.
static bool program_works(const char *path) {
  pid_t child = fork();
  if (child == 0) {
    int null = open("/dev/null", O_WRONLY);
    if (dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0) execlp(path, path, "--version", (char *)NULL);
    _exit(STATUS_NOT_FOUND);
  }
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void look_symbolizer(struct finding *finding) {
  struct symbolizer_list list = symbolizers_find();
  const char *purpose = "lines and inlined functions; names alone come from the ELF symbols";
  if (list.first_is_named && !program_works(list.paths[0])) {
    missing(finding, "HEAPTIDE_SYMBOLIZER names a program that does not run", purpose);
    finding->remedy = "unset HEAPTIDE_SYMBOLIZER, or correct it";
  } else if (list.count) {
    found(finding, list.paths[0]);
  } else {
    missing(finding, "no llvm-symbolizer", purpose);
    finding->packages = "llvm";
  }
  symbolizers_free(&list);
}

static void look_gdb(struct finding *finding) {
  struct target target;
  if (program_find("gdb", &target))
    found(finding, target.path);
  else
    missing(finding, "no gdb", "your own look into a process that hangs; heaptide attach works without");
  finding->packages = "gdb";
}

// Yama's scope (Documentation/admin-guide/LSM/Yama.rst); -1 without Yama, where every own process may be traced.
static int ptrace_scope(void) {
  FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
  int scope = -1;
  if (file && fscanf(file, "%d", &scope) != 1) scope = -1;
  if (file) fclose(file);
  return scope;
}

static void look_ptrace(struct finding *finding) {
  const char *purpose = "heaptide attach; heaptide run works without";
  int scope = ptrace_scope();
  if (scope == 3) {
    missing(finding, "ptrace_scope is 3: nobody may attach", purpose);
    finding->remedy = "set kernel.yama.ptrace_scope to 0 in /etc/sysctl.d and boot: 3 cannot be changed before";
  } else if (scope > 0 && geteuid() != 0) {
    missing(finding, scope == 1 ? "ptrace_scope is 1: only own children" : "ptrace_scope is 2: only root", purpose);
    finding->remedy = "sudo sysctl kernel.yama.ptrace_scope=0";
  } else {
    found(finding, scope > 0 ? "root may attach to any process" : "own processes can be attached to");
  }
}

static void look_hip(struct finding *finding) {
  static const char *const patterns[] = {"/opt/rocm*/lib/libamdhip64.so*", "/usr/lib/*/libamdhip64.so*",
                                         "/usr/lib64/libamdhip64.so*"};
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    glob_t paths = {0};
    bool there = glob(patterns[i], 0, NULL, &paths) == 0;
    if (there) found(finding, paths.gl_pathv[0]);
    globfree(&paths);
    if (there) return;
  }
  missing(finding, "no HIP runtime", "memory of AMD GPUs only");
  finding->remedy = "install ROCm (rocm.docs.amd.com), or a PyTorch wheel for ROCm, which brings it";
}

static void look_python(struct finding *finding) {
  char all[PATH_MAX] = "", name[32];
  struct target target;
  for (int minor = 9; minor <= 14; minor++) {
    snprintf(name, sizeof name, "python3.%d", minor);
    size_t used = strlen(all);
    if (program_find(name, &target) && used + strlen(target.path) + 2 < sizeof all)
      snprintf(all + used, sizeof all - used, "%s%s", used ? " " : "", target.path);
  }
  if (!all[0] && program_find("python3", &target)) memcpy(all, target.path, sizeof all);
  if (all[0])
    found(finding, all);
  else
    missing(finding, "no Python from 3.9 to 3.14 in PATH", "heaptide run --py");
  finding->packages = "python3";
}

static const struct check checks[] = {
    {"library", true, look_library}, {"symbolizer", false, look_symbolizer},
    {"gdb", false, look_gdb},        {"ptrace", false, look_ptrace},
    {"hip", false, look_hip},        {"python", false, look_python},
};
#define CHECK_COUNT (sizeof checks / sizeof checks[0])

// A symbolizer named in the environment was asked for as well.
static bool is_needed(const struct check *check) {
  const char *chosen = getenv("HEAPTIDE_SYMBOLIZER");
  return check->needed || (strcmp(check->name, "symbolizer") == 0 && chosen && chosen[0]);
}

static void line_print(struct text_out *out, const char *name, enum text_style style, const char *word,
                       const char *text) {
  text_print(out, STYLE_BOLD, "%-11s", name);
  text_print(out, style, " %-7s", word);
  text_print(out, STYLE_PLAIN, "  ");
  text_print_foreign(out, STYLE_PLAIN, text, PATH_MAX);
  text_print(out, STYLE_PLAIN, "\n");
}

static void remedy_print(struct text_out *out, const struct finding *finding) {
  char *command = finding->packages ? install_command(finding->packages) : memory_format("%s", finding->remedy);
  line_print(out, "", STYLE_DIM, "for", finding->purpose);
  line_print(out, "", STYLE_BOLD, "fix", command);
  free(command);
}

// Prints one check's lines. Returns whether it is there.
static bool check_show(struct text_out *out, const struct check *check) {
  struct finding finding = {0};
  check->look(&finding);
  line_print(out, check->name, finding.there ? STYLE_GOOD : STYLE_BAD, finding.there ? "ok" : "missing", finding.text);
  if (!finding.there) remedy_print(out, &finding);
  return finding.there;
}

static const struct check *check_find(const char *name) {
  for (size_t i = 0; i < CHECK_COUNT; i++)
    if (strcmp(checks[i].name, name) == 0) return &checks[i];
  return NULL;
}

static bool names_known(int count, char **names) {
  for (int i = 0; i < count; i++)
    if (!check_find(names[i])) {
      complain("doctor: %s: no such check; see heaptide help doctor", names[i]);
      return false;
    }
  return true;
}

int command_doctor(int argc, char **argv) {
  const struct option none[] = {{0}};
  int count = options_parse("doctor", none, false, argc, argv);
  if (count < 0 || !names_known(count, argv + 1)) return STATUS_ERROR;
  struct text_out out = text_out_make(stdout, colour_wanted(false));
  bool all_there = true;
  for (int i = 0; i < count; i++) all_there &= check_show(&out, check_find(argv[1 + i]));
  for (size_t i = 0; count == 0 && i < CHECK_COUNT; i++)
    if (!check_show(&out, &checks[i]) && is_needed(&checks[i])) all_there = false;
  text_out_free(&out);
  if (fflush(stdout)) return STATUS_ERROR;
  return all_there ? STATUS_OK : STATUS_FINDING;
}
