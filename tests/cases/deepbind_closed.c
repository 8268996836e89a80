// A plugin opened with RTLD_DEEPBIND, its library full RELRO or not.
// What the loader closed for writing stays closed: prints the protections of the plugin's pages.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PLUGIN
void lose(void) { volatile char *block = malloc(4096); block[0] = 1; }
#else
static char line[4096];
int main(void) {
  static char buffer[1 << 16];
  void (*lose)(void) = dlsym(dlopen("./libclosed.so", RTLD_NOW | RTLD_DEEPBIND), "lose");
  lose();
  FILE *maps = fopen("/proc/self/maps", "r");
  setvbuf(maps, buffer, _IOFBF, sizeof buffer);
  unsigned long start, end;
  char rights[8];
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "libclosed.so") && sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3)
      printf("%lu %s\n", end - start, rights);
  fclose(maps);
  return 0;
}
#endif
