# a library that dlopens its neighbour by bare name through its own RUNPATH
mkdir -p sub && echo 'int dep(void){return 7;}' > dep.c && gcc -shared -fPIC dep.c -o sub/libdep_only_here.so
cat > mid.c <<'C'
#include <dlfcn.h>
int mid(void) { void *h = dlopen("libdep_only_here.so", RTLD_NOW); return h ? ((int (*)(void))dlsym(h, "dep"))() : -1; }
C
gcc -shared -fPIC mid.c -o libmid.so -Wl,-rpath,'$ORIGIN/sub' -Wl,--enable-new-dtags
cat > main_rp.c <<'C'
#include <stdio.h>
int mid(void); int main(void) { int r = mid(); printf("%d\n", r); return r != 7; }
C
gcc main_rp.c -o rpath -L. -lmid -Wl,-rpath,'$ORIGIN'
