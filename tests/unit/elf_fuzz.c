// sources: cli/elf_file.c native/crc32.c cli/memory.c cli/problem.c
// libFuzzer on the reader of programs, libraries and debug files (tests/unit/fuzz): they may be anything.
#include "../../cli/elf_file.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Everything that can be asked of one.
static uint64_t elf_touch(struct elf *elf) {
  uint64_t sum = elf_has_lines(elf) + elf_crc32(elf);
  uint32_t bytes = 0, crc32 = 0;
  const uint8_t *id = elf_build_id(elf, &bytes);
  for (uint32_t i = 0; id && i < bytes; i++) sum += id[i];
  const char *link = elf_debuglink(elf, &crc32);
  if (link) sum += strlen(link) + crc32;
  for (int kind = ELF_FUNCTION; kind <= ELF_TLS; kind++)
    for (uint64_t address = 0; address < 0x5000; address += 0x40) {
      const char *name = elf_symbol_at(elf, (enum elf_symbol_kind)kind, address);
      if (name) sum += strlen(name);
    }
  return sum;
}

volatile uint64_t sink; // so that nothing is left out

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[40];
  int fd = memfd_create("fuzz", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) __builtin_trap(); // that would test nothing
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  struct elf *elf = elf_open(path);
  if (elf) {
    sink += elf_touch(elf);
    elf_close(elf);
  }
  close(fd);
  return 0;
}
