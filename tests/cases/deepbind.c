// gcc -shared -fPIC -g -DPLUGIN deepbind.c -o libplug.so && gcc -g deepbind.c -o deepbind -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#ifdef PLUGIN
char *plug_make(void) { return strdup("made in the plugin"); }
void plug_drop(char *p) { free(p); }
void plug_lose(void) { volatile char *p = malloc(4096); p[0] = 1; }
#else
int main(void) {
  void *h = dlopen("./libplug.so", RTLD_NOW | RTLD_DEEPBIND);
  char *(*mk)(void) = dlsym(h, "plug_make");
  void (*drop)(char *) = dlsym(h, "plug_drop"), (*lose)(void) = dlsym(h, "plug_lose");
  free(mk());                      // plugin allocates, program frees
  drop(malloc(32));                // program allocates, plugin frees
  lose();                          // 4096 bytes lost inside the plugin
  return 0;
}
#endif
