#include "install_command.h"

#include <stddef.h>
#include <unistd.h>

#include "memory.h"
#include "target.h"

static const struct manager {
  const char *program, *command;
} managers[] = {
    {"apt-get", "apt-get install"}, {"dnf", "dnf install"}, {"pacman", "pacman -S"},
    {"zypper", "zypper install"},   {"apk", "apk add"},
};

static const char *manager_command(void) {
  struct target target;
  int error;
  for (size_t i = 0; i < sizeof managers / sizeof *managers; i++)
    if (target_find(managers[i].program, &target, &error) == 0) return managers[i].command;
  return NULL;
}

char *install_command(const char *packages) {
  const char *command = manager_command();
  if (!command) return memory_format("install %s", packages);
  return memory_format("%s%s %s", geteuid() ? "sudo " : "", command, packages);
}
