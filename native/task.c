#include "task.h"

#include <fcntl.h>

#include "sys.h"

#define TEXT_BYTES 4096

static uint64_t number_read(const char *at, unsigned base) {
  uint64_t value = 0;
  for (;; at++) {
    unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                     : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a' + 10)
                                                : 16;
    if (digit >= base) return value;
    value = value * base + digit;
  }
}

// What getdents64(2) fills in.
struct directory_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

bool task_each(char buffer[TASK_LIST_BYTES], void (*visit)(uint32_t, void *), void *context) {
  int fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) return false;
  long got;
  while ((got = sys_call3(SYS_getdents64, fd, (long)buffer, TASK_LIST_BYTES)) > 0)
    for (long at = 0; at < got;) {
      const struct directory_entry *entry = (const struct directory_entry *)(buffer + at);
      uint32_t tid = (uint32_t)number_read(entry->name, 10);
      if (tid) visit(tid, context);
      at += entry->bytes;
    }
  sys_close(fd);
  return got == 0;
}

static char *text_add(char *at, const char *text) {
  while (*text) *at++ = *text++;
  *at = 0;
  return at;
}

static char *number_add(char *at, uint32_t number) {
  char digits[11];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while (number /= 10);
  while (count) *at++ = digits[--count];
  return at;
}

static bool file_read(uint32_t tid, const char *file, char text[TEXT_BYTES]) {
  char path[64];
  size_t used;
  text_add(number_add(text_add(path, "/proc/self/task/"), tid), file);
  return sys_read_all(path, text, TEXT_BYTES, &used) && used;
}

// The text behind "\nname"; NULL: no such field.
static const char *field(const char *text, const char *name) {
  for (const char *at = text; *at; at++) {
    if (at != text && at[-1] != '\n') continue;
    size_t i = 0;
    while (name[i] && at[i] == name[i]) i++;
    if (!name[i]) return at + i;
  }
  return NULL;
}

bool task_status(uint32_t tid, struct task_status *status) {
  char text[TEXT_BYTES];
  if (!file_read(tid, "/status", text)) return false;
  const char *state = field(text, "State:\t"), *blocked = field(text, "SigBlk:\t");
  if (!state || !blocked) return false;
  *status = (struct task_status){*state, number_read(blocked, 16)};
  return true;
}

static const char *word_next(const char *at) {
  while (*at && *at != ' ') at++;
  while (*at == ' ') at++;
  return at;
}

// "number arg0 .. arg5 sp pc", or "-1 sp pc" when asleep outside a call, or "running": proc_pid_syscall(5).
bool task_call(uint32_t tid, struct task_call *call) {
  char text[TEXT_BYTES];
  if (!file_read(tid, "/syscall", text) || text[0] == 'r') return false;
  const char *at = text;
  call->number = *at == '-' ? -1 : (long)number_read(at, 10);
  at = word_next(at);
  for (int argument = 0; call->number >= 0 && argument < 6; argument++) at = word_next(at);
  if (at[0] != '0' || at[1] != 'x') return false;
  call->stack_pointer = number_read(at + 2, 16);
  at = word_next(at);
  call->pc = *at ? number_read(at + 2, 16) : 0;
  return true;
}
