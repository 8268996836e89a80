// Case 29: a plugin whose static destructor prints with stdio and iostream, after main has returned.
// build-library: libprinter.so -DPLUGIN
// build: -ldl -Wl,-rpath,$ORIGIN
#include <dlfcn.h>
#include <cstdio>
#include <iostream>
#include <string>
#ifdef PLUGIN
struct Printer {
  std::string text = std::string(1000, 'p');
  ~Printer() {
    std::printf("printed late: %zu\n", text.size());
    std::cout << "and streamed late" << std::endl;
  }
};
static Printer printer;
extern "C" size_t plugin_size() { return printer.text.size(); }
#else
int main() {
  void *plugin = dlopen("libprinter.so", RTLD_NOW);
  if (!plugin)
    return 2;
  std::cout << ((size_t(*)())dlsym(plugin, "plugin_size"))() << "\n";
  return 0;
}
#endif
