// for n in a b; do gcc -g -shared -fPIC -DPLUG=leak_from_$n plugin_gone.c -o libp$n.so; done; gcc -g plugin_gone.c -o plugin_gone -ldl
#include <stdlib.h>
#ifdef PLUG
static void *held; void PLUG(size_t n) { held = malloc(n); }     // root lives in the plugin's .bss
#else
#include <dlfcn.h>
static void go(const char *so, const char *fn, size_t n) {
  void *h = dlopen(so, RTLD_NOW); ((void (*)(size_t))dlsym(h, fn))(n);
  dlclose(h);                                                     // code and root are unmapped
}
int main(void) { go("./libpa.so", "leak_from_a", 1111); go("./libpb.so", "leak_from_b", 2222); return 0; }
#endif
