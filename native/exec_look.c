#include "exec_look.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "sys.h"

// linux/fs/exec.c, exec_binprm: a script's interpreter may be a script, five files in all.
#define SCRIPT_DEPTH_MAX 5
// What the kernel reads of a file to find out what it is.
#define HEAD_BYTES EXEC_INTERPRETER_BYTES
// More program headers than any linker writes; those beyond are not looked at.
#define PROGRAM_HEADERS_MAX 64
// Dynamic section entries looked at for DT_SONAME.
#define DYNAMIC_MAX 128

#ifndef ST_NOSUID
#define ST_NOSUID 2 // linux/statfs.h, f_flags
#endif

union head {
  char bytes[HEAD_BYTES + 1];
  Elf64_Ehdr elf;
};

// Reads `bytes` at `offset`; false when the file is shorter.
static bool read_at(int fd, void *into, size_t bytes, uint64_t offset) {
  return sys_call4(SYS_pread64, fd, (long)into, (long)bytes, (long)offset) == (long)bytes;
}

static bool name_starts(const char *path, const char *prefix) {
  const char *slash = strrchr(path, '/');
  return strncmp(slash ? slash + 1 : path, prefix, strlen(prefix)) == 0;
}

// musl's, uClibc's and Android's loaders, by their file names.
static bool loader_is_foreign(const char *path) {
  return name_starts(path, "ld-musl") || name_starts(path, "ld64-uClibc") || name_starts(path, "ld-uClibc") ||
         name_starts(path, "linker64");
}

// A dynamic loader run as a program has no interpreter, but a name as a library; a static program has neither.
static bool has_soname(int fd, const Elf64_Phdr *dynamic) {
  for (unsigned i = 0; i < DYNAMIC_MAX && i < dynamic->p_filesz / sizeof(Elf64_Dyn); i++) {
    Elf64_Dyn entry;
    if (!read_at(fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) || entry.d_tag == DT_NULL)
      return false;
    if (entry.d_tag == DT_SONAME) return true;
  }
  return false;
}

static enum exec_look look_at_interpreter(int fd, const Elf64_Phdr *header) {
  char path[HEAD_BYTES + 1] = {0};
  size_t bytes = header->p_filesz < HEAD_BYTES ? header->p_filesz : HEAD_BYTES;
  if (!read_at(fd, path, bytes, header->p_offset)) return LOOK_UNKNOWN;
  return loader_is_foreign(path) ? LOOK_OTHER_LIBC : LOOK_FINE;
}

static enum exec_look look_at_elf(int fd, const Elf64_Ehdr *elf, const char *path) {
  if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_X86_64) return LOOK_OTHER_MACHINE;
  bool is_library = false;
  for (unsigned i = 0; i < elf->e_phnum && i < PROGRAM_HEADERS_MAX; i++) {
    Elf64_Phdr header;
    if (!read_at(fd, &header, sizeof header, elf->e_phoff + (uint64_t)i * elf->e_phentsize)) return LOOK_UNKNOWN;
    if (header.p_type == PT_INTERP) return look_at_interpreter(fd, &header);
    if (header.p_type == PT_DYNAMIC) is_library = has_soname(fd, &header);
  }
  if (loader_is_foreign(path)) return LOOK_OTHER_LIBC;
  return is_library ? LOOK_FINE : LOOK_STATIC;
}

// linux/security/commoncap.c, get_vfs_caps_from_disk: revisions 1 to 3 begin with the same words.
static bool gains_capabilities(int fd) {
  struct vfs_ns_cap_data data = {0};
  if (sys_call4(SYS_fgetxattr, fd, (long)"security.capability", (long)&data, sizeof data) <= 0) return false;
  return (data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE) || data.data[0].permitted || data.data[1].permitted;
}

// linux/security/commoncap.c, cap_bprm_creds_from_file: when the kernel tells the loader to be careful (AT_SECURE).
static enum exec_look look_at_rights(int fd) {
  struct stat status;
  if (sys_call3(SYS_fstat, fd, (long)&status, 0) < 0) return LOOK_FINE;
  struct statfs file_system;
  bool honoured = sys_call6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) != 1 &&
                  sys_call3(SYS_fstatfs, fd, (long)&file_system, 0) == 0 && !(file_system.f_flags & ST_NOSUID);
  uid_t user = (uid_t)sys_call0(SYS_getuid), effective_user = (uid_t)sys_call0(SYS_geteuid);
  gid_t group = (gid_t)sys_call0(SYS_getgid), effective_group = (gid_t)sys_call0(SYS_getegid);
  if (honoured && (status.st_mode & S_ISUID)) effective_user = status.st_uid;
  if (honoured && (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP)) effective_group = status.st_gid;
  if (user != effective_user || group != effective_group) return LOOK_SETID;
  return honoured && user != 0 && gains_capabilities(fd) ? LOOK_CAPABILITIES : LOOK_FINE;
}

// The interpreter of a `#!` line, cut out in place. NULL: the line names none.
static const char *script_interpreter(char *head) {
  char *start = head + 2 + strspn(head + 2, " \t");
  start[strcspn(start, " \t\n")] = 0;
  return start[0] ? start : NULL;
}

// Looks at an open file. A script's interpreter goes to `next`, which holds HEAD_BYTES; otherwise next[0] is 0.
static enum exec_look look_at_file(int fd, const char *path, char *next) {
  union head head;
  next[0] = 0;
  long bytes = sys_call4(SYS_pread64, fd, (long)head.bytes, HEAD_BYTES, 0);
  if (bytes < 0) return LOOK_UNKNOWN;
  memset(head.bytes + bytes, 0, sizeof head.bytes - (size_t)bytes);
  if (head.bytes[0] == '#' && head.bytes[1] == '!') {
    const char *interpreter = script_interpreter(head.bytes);
    if (interpreter) memcpy(next, interpreter, strlen(interpreter) + 1);
    return LOOK_UNKNOWN;
  }
  if (memcmp(head.bytes, ELFMAG, SELFMAG) != 0) return LOOK_UNKNOWN;
  enum exec_look rights = look_at_rights(fd);
  enum exec_look look = look_at_elf(fd, &head.elf, path);
  return look == LOOK_FINE ? rights : look;
}

enum exec_look exec_look(int directory_fd, const char *path, char *interpreter) {
  char names[2][HEAD_BYTES] = {"", ""};
  enum exec_look look = LOOK_UNKNOWN;
  for (int depth = 0; depth < SCRIPT_DEPTH_MAX; depth++) {
    if (interpreter) memcpy(interpreter, names[(depth + 1) & 1], HEAD_BYTES);
    int fd = (int)sys_call4(SYS_openat, directory_fd, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0) return LOOK_UNKNOWN;
    char *next = names[depth & 1];
    look = look_at_file(fd, path, next);
    sys_call3(SYS_close, fd, 0, 0);
    if (!next[0]) break;
    path = next;
    directory_fd = AT_FDCWD;
  }
  return look;
}

bool exec_look_refuses_preload(enum exec_look look) {
  return look == LOOK_OTHER_MACHINE || look == LOOK_OTHER_LIBC || look == LOOK_SETID || look == LOOK_CAPABILITIES;
}
