# bash. same program, awkward places; the report must open, escape and resolve all of them
d="$PWD/od d/ünï «q» \"dq\" 'sq' <b>&amp; \$HOME \`x\` %p %s"; mkdir -p "$d"; nl="$d/new
line"; mkdir -p "$nl"
gcc -g -x c - -o "$d/a b" <<'C'
#include <stdlib.h>
__attribute__((noinline)) void lose_here(void) { *(volatile char *)malloc(3000) = 1; }
int main(void) { lose_here(); return 0; }
C
cp "$d/a b" "$nl/prog"; cp "$d/a b" "$d/-rf"; ln -sf "$d/a b" "$d/link"
for p in "$d/a b" "$nl/prog" "$d/-rf" "$d/link"; do $HEAPTIDE "$p" && echo ok; done
(cd "$d" && $HEAPTIDE ./-rf '--json' $'arg\nline' '<script>alert(1)</script>' && echo ok)   # arguments reach an HTML report
ln -sf "$d/a b" plain; printf '#!/bin/sh\nexec ./plain\n' > script; chmod +x script; $HEAPTIDE ./script && echo ok
/lib64/ld-linux-x86-64.so.2 "$d/a b" && $HEAPTIDE /lib64/ld-linux-x86-64.so.2 "$d/a b" && echo ok   # /proc/self/exe is ld.so
long=$(printf 'x%.0s' $(seq 200)); mkdir -p "$long/$long" && cp "$d/a b" "$long/$long/$long" && $HEAPTIDE "./$long/$long/$long" && echo ok
