// g++ -g -O1 throwing.cc -o throwing ; also with -static-libstdc++ -static-libgcc     (nothing leaks)
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <vector>
static jmp_buf jb;
static void handler_throw() { throw std::runtime_error("new handler"); }
static void handler_jump() { longjmp(jb, 1); }
struct Throws { Throws() { throw 1; } char c[100]; };
int main() {
  volatile size_t huge = PTRDIFF_MAX; int got = 0;
  for (int i = 0; i < 1000; i++) { try { throw std::runtime_error("x"); } catch (std::exception &) { got++; } }
  try { ::operator new(huge); } catch (std::bad_alloc &) { got++; }
  if (!::operator new(huge, std::nothrow)) got++;
  try { new Throws; } catch (int) { got++; }                // delete runs while unwinding
  std::set_new_handler(handler_throw);
  try { ::operator new(huge); } catch (std::runtime_error &) { got++; }
  std::set_new_handler(handler_jump);                       // leaves operator new sideways
  if (!setjmp(jb)) ::operator new(huge); else got++;
  std::set_new_handler(nullptr);
  for (int i = 0; i < 1000; i++) std::vector<int> v(1000);  // must still be counted
  return got == 1005 ? 0 : 1;
}
