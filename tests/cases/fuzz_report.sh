# bash. $1 = a good profile file, $REPORT = report command. Must end by itself, exit 2 and say why; never hang, crash or print huge numbers
n=$(stat -c %s "$1")
for k in 0 1 7 8 63 64 100 $((n/3)) $((n/2)) $((n-1)); do head -c $k "$1" > cut.bin; timeout 20 $REPORT cut.bin >/dev/null 2>err; r=$?; [ $r -ge 124 ] && echo "cut at $k: rc=$r"; done
for s in $(seq 200); do
  cp "$1" bad.bin; for j in 1 2 3 4; do
    printf "\\$(printf %03o $((RANDOM % 256)))" | dd of=bad.bin bs=1 seek=$(( (RANDOM * 32768 + RANDOM) % n )) conv=notrunc status=none; done
  timeout 20 $REPORT bad.bin >/dev/null 2>&1; r=$?; [ $r -ge 124 ] && echo "seed $s: rc=$r"
done
cat "$1" "$1" > twice.bin; timeout 20 $REPORT twice.bin >/dev/null 2>&1; echo "two files glued rc=$?"
