// A function of C++ that Python calls through pybind11.
#include <cstdlib>
#include <pybind11/pybind11.h>

static void lose(size_t size) {
  if (!std::malloc(size)) throw std::bad_alloc();
}

PYBIND11_MODULE(extension, module) { module.def("lose", lose); }
