# $HEAPTIDE_OUT DIR -- CMD  is "run with this output place"; the program must always run and keep its exit code
touch plainfile; mkdir -p ro && chmod 555 ro
for o in ro/x plainfile/x /proc/self/x /dev/full "" "$(printf 'd%.0s' $(seq 300))" relative/new/deep; do
  $HEAPTIDE_OUT "$o" -- sh -c 'cd / && exec /bin/true'; echo "out=[$o] rc=$?"
done
mkdir -p small && mount -t tmpfs -o size=64k none small 2>/dev/null && { $HEAPTIDE_OUT small -- ./stacks; echo "tmpfs full rc=$?"; umount small; }
mkdir -p same; $HEAPTIDE_OUT same -- ./stacks; $HEAPTIDE_OUT same -- ./stale; echo "second run shorter than the first: report must show only 10000 B"
