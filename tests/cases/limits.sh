# $HEAPTIDE is the launcher, e.g. PROF="heaptide run --out /some/dir --"
(ulimit -f 8;       $HEAPTIDE ./stacks);  echo "file size limit  rc=$?"   # our write must not raise SIGXFSZ
(ulimit -v 1000000; $HEAPTIDE ./ways_out); echo "1 GB address space rc=$?"
(ulimit -n 4;       $HEAPTIDE ./ways_out); echo "4 descriptors    rc=$?"
(ulimit -s 256;     $HEAPTIDE ./ways_out); echo "256 KB stack     rc=$?"
(ulimit -c 0 -u 20; $HEAPTIDE ./ways_out); echo "20 processes     rc=$?"
$HEAPTIDE ./ways_out >&- 2>&-;             echo "closed stdout    rc=$?"
$HEAPTIDE ./ways_out < /dev/null | true;   echo "broken pipe      rc=$?"
