# python3 py_mp.py {fork|spawn|forkserver}      every worker keeps 8 MiB; one pool is closed, one is terminated
import multiprocessing as mp, os, subprocess, sys
keep = []
def work(i):
    keep.append(bytearray(8 << 20)); return os.getpid()
if __name__ == "__main__":
    mp.set_start_method(sys.argv[1] if len(sys.argv) > 1 else "fork")
    with mp.Pool(2) as p:                    # leaving the block calls terminate(): SIGTERM
        a = set(p.map(work, range(4)))
    q = mp.Pool(2); b = set(q.map(work, range(4))); q.close(); q.join()      # clean end
    subprocess.run([sys.executable, "-c", "x = bytearray(8 << 20)"], env={})  # environment wiped
    pid = os.fork()
    if pid == 0: work(0); os._exit(0)        # no atexit, no finalizers
    os.waitpid(pid, 0); print(len(a | b))
