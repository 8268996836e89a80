#include "file_words.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sys.h"

// Pages behind the file's end could not be read.
static bool holds(int fd, const struct mapping *mapping) {
  struct stat status;
  if (sys_call3(SYS_fstat, fd, (long)&status, 0) < 0 || !S_ISREG(status.st_mode)) return false;
  uint64_t pages_end = ((uint64_t)status.st_size + 4095) & ~4095ul;
  return status.st_ino == mapping->inode && mapping->offset + (mapping->end - mapping->start) <= pages_end;
}

struct file_words file_words_map(const struct mapping *mapping) {
  struct file_words file = {NULL, mapping->end - mapping->start};
  if (*mapping->path != '/' || !mapping->inode) return file;
  int fd = (int)sys_call4(SYS_openat, AT_FDCWD, (long)mapping->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) return file;
  if (holds(fd, mapping)) {
    long at = sys_call6(SYS_mmap, 0, (long)file.bytes, PROT_READ, MAP_PRIVATE, fd, (long)mapping->offset);
    if (at >= 0 || at < -4095) file.words = (const uintptr_t *)at;
  }
  sys_call3(SYS_close, fd, 0, 0);
  return file;
}

void file_words_unmap(struct file_words *file) {
  if (file->words) sys_call3(SYS_munmap, (long)file->words, (long)file->bytes, 0);
  file->words = NULL;
}
