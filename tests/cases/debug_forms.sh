# every variant must give "lose_here FILE:LINE" (or at least the function name where noted)
cat > df.c <<'C'
#include <stdlib.h>
static inline __attribute__((always_inline)) void *inner(void) { return malloc(3000); }
__attribute__((noinline)) void lose_here(void) { *(volatile char *)inner() = 1; }
int main(void) { lose_here(); return 0; }
C
gcc -g -gdwarf-4 df.c -o df_d4;            gcc -g -gdwarf-5 df.c -o df_d5
gcc -g -gz=zlib df.c -o df_zlib;           gcc -g -gsplit-dwarf df.c -o df_dwo       # needs df_dwo-df.dwo beside it
gcc -g -no-pie df.c -o df_nopie;           gcc -g -O2 -flto df.c -o df_lto
gcc -g -fno-asynchronous-unwind-tables -fno-omit-frame-pointer df.c -o df_noeh       # frame pointers only
clang -g -gdwarf-5 -fuse-ld=bfd df.c -o df_clang 2>/dev/null
cp df_d5 df_sep && objcopy --only-keep-debug df_sep df_sep.debug && strip -g df_sep && objcopy --add-gnu-debuglink=df_sep.debug df_sep
cp df_d5 df_strip && strip df_strip        # lose_here has no name left: expect [df_strip+0x...], not a wrong name
mkdir -p .debug && mv df_sep.debug .debug/           # the second place debuggers look in
for b in df_d4 df_d5 df_zlib df_dwo df_nopie df_lto df_noeh df_clang df_sep df_strip; do [ -x $b ] && $HEAPTIDE ./$b && echo "$b ran"; done
