# uses up glibc's spare static TLS, then loads the profiler late (what attach does). $1 = the profiler .so
echo '__thread __attribute__((tls_model("initial-exec"))) char x[64]; char *f(void){return x;}' > t.c
for i in $(seq 60); do gcc -shared -fPIC -w t.c -o libt$i.so -Wl,-soname,libt$i.so; done
python3 - "$1" <<'PY'
import ctypes, sys
n = 0
try:
    for n in range(1, 61): ctypes.CDLL(f"./libt{n}.so")
except OSError as e: print(f"spare static TLS is full after {n-1} fillers:", str(e).split(": ")[-1])
try: ctypes.CDLL(sys.argv[1]); print("late load ok")
except OSError as e: print("late load failed:", str(e).split(": ")[-1])
PY
