// gcc -g -O1 jit.c -o jit      (4096 lost below a frame without unwind data)
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline)) static void leaf(void) { volatile char *p = malloc(4096); p[0] = 1; }
int main(void) {
  static const unsigned char code[] = {
    0x55, 0x48, 0xc7, 0xc5, 0xff, 0xff, 0xff, 0x7f,   // push rbp; mov rbp, 0x7fffffff (bad frame pointer)
    0x48, 0x83, 0xec, 0x30, 0xff, 0xd7,               // sub rsp, 48; call rdi
    0x48, 0x83, 0xc4, 0x30, 0x5d, 0xc3};              // add rsp, 48; pop rbp; ret
  void *m = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(m, code, sizeof code); mprotect(m, 4096, PROT_READ | PROT_EXEC);
  for (int i = 0; i < 1000; i++) ((void (*)(void (*)(void)))m)(leaf);
  munmap(m, 4096);                                    // the code is gone before the report
  return 0;
}
