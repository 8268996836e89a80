// fakehsakmt.c - a stand-in for libhsakmt.so.1 (the KFD "thunk") that presents
// one or more simulated AMD GPUs whose memory is plain host memory, so that the
// real ROCr (libhsa-runtime64.so.1) and the real HIP runtime (libamdhip64.so.5)
// run on a machine with no GPU.
//
//  - topology: node 0 = CPU, nodes 1..N = gfx906 GPUs
//  - memory:   hsaKmtAllocMemory is mmap(), with a VRAM budget per GPU
//  - queues:   one worker thread per process plays the command processor: it
//              retires AQL packets (barriers are honoured, kernels are NOT run,
//              they only complete) and executes SDMA packets (copies, fills,
//              fences, atomics) for real
//  - events:   one mutex + condition variable
//
// Environment: FAKEKMT_GPUS (1), FAKEKMT_VRAM_MB (16384), FAKEKMT_SVM (1),
//              FAKEKMT_LOG (unset; 1 = stderr trace of the calls)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <hsakmt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#define OK HSAKMT_STATUS_SUCCESS
#define PAGE 4096ul
#define MAXGPU 8
#define MAXEV 8192
#define MAXQ 256

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER; // memory table
static unsigned g_ngpu = 1;
static uint64_t g_vram = 16384ull << 20;
static uint64_t g_vram_used[MAXGPU];
static int g_svm = 1, g_log = -1;
static int g_open;

static void logf_(const char *fmt, ...) {
  if (g_log < 0) {
    const char *e = getenv("FAKEKMT_LOG");
    g_log = e && *e != '0';
  }
  if (!g_log) return;
  char b[400];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(b, sizeof b - 1, fmt, ap);
  va_end(ap);
  if (n > (int)sizeof b - 2) n = sizeof b - 2;
  b[n++] = '\n';
  if (write(2, b, n) < 0) {}
}
#define LOG(...)                                                                                                       \
  do {                                                                                                                 \
    if (g_log) logf_("[fakekmt] " __VA_ARGS__);                                                                        \
  } while (0)

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static uint64_t env_u64(const char *n, uint64_t d) {
  const char *e = getenv(n);
  return e && *e ? strtoull(e, 0, 0) : d;
}

// ---------------------------------------------------------------- memory table
typedef struct {
  uintptr_t base, cpu, gpu;
  uint64_t size;
  uint32_t node;
  uint32_t type, refs;
  HsaMemFlags flags;
  void *user;
} Alloc;
static Alloc *g_tab;
static size_t g_n, g_cap;
static uint32_t g_gpu_nodes[MAXGPU] = {1, 2, 3, 4, 5, 6, 7, 8};

static size_t lower(uintptr_t p) { // first index with base > p
  size_t lo = 0, hi = g_n;
  while (lo < hi) {
    size_t m = (lo + hi) / 2;
    if (g_tab[m].base <= p)
      lo = m + 1;
    else
      hi = m;
  }
  return lo;
}
static Alloc *find(const void *p) {
  size_t i = lower((uintptr_t)p);
  while (i > 0) {
    Alloc *a = &g_tab[--i];
    if ((uintptr_t)p < a->base + a->size) return a;
    if (a->type == HSA_POINTER_ALLOCATED) break;
  }
  return 0;
}
static Alloc *find_exact(const void *p) {
  size_t i = lower((uintptr_t)p);
  return i > 0 && g_tab[i - 1].base == (uintptr_t)p ? &g_tab[i - 1] : 0;
}
static Alloc *insert(uintptr_t base, uint64_t size) {
  if (g_n == g_cap) { // mmap, not malloc: stay out of the profiler's heap numbers
    size_t nc = g_cap ? g_cap * 2 : 4096;
    Alloc *t = mmap(0, nc * sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) return 0;
    if (g_tab) {
      memcpy(t, g_tab, g_n * sizeof *t);
      munmap(g_tab, g_cap * sizeof *t);
    }
    g_tab = t;
    g_cap = nc;
  }
  size_t i = lower(base);
  memmove(g_tab + i + 1, g_tab + i, (g_n - i) * sizeof *g_tab);
  g_n++;
  memset(&g_tab[i], 0, sizeof *g_tab);
  g_tab[i].base = g_tab[i].cpu = g_tab[i].gpu = base;
  g_tab[i].size = size;
  g_tab[i].refs = 1;
  return &g_tab[i];
}
static void erase(Alloc *a) {
  size_t i = a - g_tab;
  memmove(a, a + 1, (g_n - i - 1) * sizeof *a);
  g_n--;
}

HSAKMT_STATUS HSAKMTAPI hsaKmtAllocMemory(HSAuint32 node, HSAuint64 size, HsaMemFlags f, void **addr) {
  if (!addr || !size || (size & (PAGE - 1))) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (node > g_ngpu) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  bool vram = node > 0 && f.ui32.NonPaged && !f.ui32.Scratch && !f.ui32.GDSMemory;
  pthread_mutex_lock(&g_lock);
  if (vram && g_vram_used[node - 1] + size > g_vram) {
    pthread_mutex_unlock(&g_lock);
    LOG("alloc node=%u size=%lu: out of VRAM", node, (unsigned long)size);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  uint64_t align = size >= (2ul << 20) ? (2ul << 20) : PAGE, span = size + align - PAGE;
  int fl = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  int prot = PROT_READ | PROT_WRITE | (f.ui32.ExecuteAccess ? PROT_EXEC : 0);
  char *p;
  if (f.ui32.FixedAddress)
    p = mmap(*addr, size, prot, fl | MAP_FIXED_NOREPLACE, -1, 0);
  else
    p = mmap(0, span, prot, fl, -1, 0);
  if (p == MAP_FAILED) {
    pthread_mutex_unlock(&g_lock);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  if (!f.ui32.FixedAddress) {
    char *q = (char *)(((uintptr_t)p + align - 1) & ~(align - 1));
    if (q > p) munmap(p, q - p);
    if (p + span > q + size) munmap(q + size, p + span - (q + size));
    p = q;
  }
  Alloc *a = insert((uintptr_t)p, size);
  if (!a) {
    pthread_mutex_unlock(&g_lock);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  a->node = node;
  a->flags = f;
  a->type = HSA_POINTER_ALLOCATED;
  if (vram) g_vram_used[node - 1] += size;
  pthread_mutex_unlock(&g_lock);
  *addr = p;
  LOG("alloc node=%u size=%lu flags=%x -> %p", node, (unsigned long)size, f.Value, p);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtFreeMemory(void *addr, HSAuint64 size) {
  pthread_mutex_lock(&g_lock);
  Alloc *a = find_exact(addr);
  if (!a || a->type != HSA_POINTER_ALLOCATED) {
    pthread_mutex_unlock(&g_lock);
    return HSAKMT_STATUS_ERROR;
  }
  if (a->node > 0 && a->flags.ui32.NonPaged && !a->flags.ui32.Scratch) g_vram_used[a->node - 1] -= a->size;
  munmap(addr, a->size);
  erase(a);
  pthread_mutex_unlock(&g_lock);
  LOG("free %p %lu", addr, (unsigned long)size);
  return OK;
}
// Registered host memory has a second, GPU-side address, as on a real discrete
// GPU (HIP relies on the two differing). It is only reserved address space: the
// queue processor translates it back with xlate().
static HSAKMT_STATUS reg(void *addr, HSAuint64 size, HsaMemFlags f) {
  pthread_mutex_lock(&g_lock);
  Alloc *a = find_exact(addr);
  if (a && a->size == size) {
    a->refs++;
    pthread_mutex_unlock(&g_lock);
    return OK;
  }
  uint64_t off = (uintptr_t)addr & (PAGE - 1), span = (off + size + PAGE - 1) & ~(PAGE - 1);
  char *g = mmap(0, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (g == MAP_FAILED) {
    pthread_mutex_unlock(&g_lock);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  uintptr_t gpu = (uintptr_t)g + off;
  for (int k = 0; k < 2; k++) {
    if (!(a = insert(k ? gpu : (uintptr_t)addr, size))) {
      pthread_mutex_unlock(&g_lock);
      return HSAKMT_STATUS_NO_MEMORY;
    }
    a->flags = f;
    a->type = HSA_POINTER_REGISTERED_USER;
    a->cpu = (uintptr_t)addr;
    a->gpu = gpu;
    a->node = 1;
  }
  pthread_mutex_unlock(&g_lock);
  LOG("register %p %lu -> %p", addr, (unsigned long)size, (void *)gpu);
  return OK;
}
static void *xlate(uint64_t va) {
  pthread_mutex_lock(&g_lock);
  Alloc *a = find((void *)va);
  void *r = (void *)va;
  if (a && a->cpu != a->gpu && a->base == a->gpu) r = (void *)(a->cpu + (va - a->base));
  pthread_mutex_unlock(&g_lock);
  return r;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtRegisterMemory(void *p, HSAuint64 s) {
  HsaMemFlags f;
  f.Value = 0;
  f.ui32.CoarseGrain = 1;
  return reg(p, s, f);
}
HSAKMT_STATUS HSAKMTAPI hsaKmtRegisterMemoryToNodes(void *p, HSAuint64 s, HSAuint64 n, HSAuint32 *a) {
  return hsaKmtRegisterMemory(p, s);
}
HSAKMT_STATUS HSAKMTAPI hsaKmtRegisterMemoryWithFlags(void *p, HSAuint64 s, HsaMemFlags f) { return reg(p, s, f); }
HSAKMT_STATUS HSAKMTAPI hsaKmtDeregisterMemory(void *p) {
  pthread_mutex_lock(&g_lock);
  Alloc *a = find_exact(p);
  HSAKMT_STATUS r = OK;
  if (!a)
    r = HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  else if (a->type == HSA_POINTER_REGISTERED_USER) {
    uintptr_t cpu = a->cpu, gpu = a->gpu;
    uint64_t size = a->size;
    if ((a = find_exact((void *)cpu)) && --a->refs == 0) {
      erase(a);
      if ((a = find_exact((void *)gpu))) erase(a);
      uint64_t off = gpu & (PAGE - 1);
      munmap((void *)(gpu - off), (off + size + PAGE - 1) & ~(PAGE - 1));
    }
  } else if (a->type == HSA_POINTER_REGISTERED_GRAPHICS) {
    munmap(p, a->size);
    erase(a);
  }
  pthread_mutex_unlock(&g_lock);
  LOG("deregister %p = %d", p, r);
  return r;
}
static HSAKMT_STATUS map(void *p, HSAuint64 *va) {
  pthread_mutex_lock(&g_lock);
  Alloc *a = find_exact(p);
  if (!a) a = find(p);
  if (va) *va = a ? a->gpu + ((uintptr_t)p - a->base) : (uintptr_t)p;
  pthread_mutex_unlock(&g_lock);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtMapMemoryToGPU(void *p, HSAuint64 s, HSAuint64 *va) { return map(p, va); }
HSAKMT_STATUS HSAKMTAPI hsaKmtMapMemoryToGPUNodes(void *p, HSAuint64 s, HSAuint64 *va, HsaMemMapFlags f, HSAuint64 n,
                                                  HSAuint32 *a) {
  return map(p, va);
}
HSAKMT_STATUS HSAKMTAPI hsaKmtUnmapMemoryToGPU(void *p) { return OK; }
HSAKMT_STATUS HSAKMTAPI hsaKmtQueryPointerInfo(const void *p, HsaPointerInfo *i) {
  if (!i) return HSAKMT_STATUS_INVALID_PARAMETER;
  memset(i, 0, sizeof *i);
  pthread_mutex_lock(&g_lock);
  Alloc *a = find(p);
  if (a) {
    i->Type = a->type;
    i->Node = a->node;
    i->MemFlags = a->flags;
    i->CPUAddress = (void *)a->cpu;
    i->GPUAddress = a->gpu;
    i->SizeInBytes = a->size;
    i->NMappedNodes = a->node ? 1 : g_ngpu;
    i->MappedNodes = a->node ? &g_gpu_nodes[a->node - 1] : g_gpu_nodes;
    i->NRegisteredNodes = 0;
    i->UserData = a->user;
  }
  pthread_mutex_unlock(&g_lock);
  return a ? OK : HSAKMT_STATUS_ERROR;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtSetMemoryUserData(const void *p, void *u) {
  pthread_mutex_lock(&g_lock);
  Alloc *a = find(p);
  if (a) a->user = u;
  pthread_mutex_unlock(&g_lock);
  return a ? OK : HSAKMT_STATUS_ERROR;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtSetMemoryPolicy(HSAuint32 n, HSAuint32 d, HSAuint32 al, void *b, HSAuint64 s) {
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtSVMSetAttr(void *p, HSAuint64 s, unsigned n, HSA_SVM_ATTRIBUTE *a) {
  LOG("svm set %p %lu n=%u", p, (unsigned long)s, n);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtSVMGetAttr(void *p, HSAuint64 s, unsigned n, HSA_SVM_ATTRIBUTE *a) {
  for (unsigned i = 0; i < n; i++) switch (a[i].type) {
    case HSA_SVM_ATTR_PREFERRED_LOC:
    case HSA_SVM_ATTR_PREFETCH_LOC:
      a[i].value = INVALID_NODEID;
      break;
    case HSA_SVM_ATTR_ACCESS:
      a[i].type = HSA_SVM_ATTR_ACCESS_IN_PLACE;
      break;
    case HSA_SVM_ATTR_SET_FLAGS:
      a[i].value = HSA_SVM_FLAG_HOST_ACCESS | HSA_SVM_FLAG_COHERENT;
      break;
    case HSA_SVM_ATTR_CLR_FLAGS:
      a[i].value = ~(HSAuint32)(HSA_SVM_FLAG_HOST_ACCESS | HSA_SVM_FLAG_COHERENT);
      break;
    case HSA_SVM_ATTR_GRANULARITY:
      a[i].value = 9;
      break;
    }
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtShareMemory(void *p, HSAuint64 s, HsaSharedMemoryHandle *h) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *h, void **p, HSAuint64 *s) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *h, void **p, HSAuint64 *s,
                                                          HSAuint64 n, HSAuint32 *a) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
// Memory of another interface, by a file descriptor: a file stands for it.
HSAKMT_STATUS HSAKMTAPI hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 h, HsaGraphicsResourceInfo *i, HSAuint64 n,
                                                            HSAuint32 *nodes) {
  struct stat file;
  if (fstat((int)h, &file) || !file.st_size) return HSAKMT_STATUS_INVALID_HANDLE;
  uint64_t size = (file.st_size + PAGE - 1) & ~(PAGE - 1);
  void *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)h, 0);
  if (p == MAP_FAILED) return HSAKMT_STATUS_NO_MEMORY;
  pthread_mutex_lock(&g_lock);
  Alloc *a = insert((uintptr_t)p, size);
  if (a) {
    a->type = HSA_POINTER_REGISTERED_GRAPHICS;
    a->node = 1;
  }
  pthread_mutex_unlock(&g_lock);
  if (!a) return munmap(p, size), HSAKMT_STATUS_NO_MEMORY;
  memset(i, 0, sizeof *i);
  i->MemoryAddress = p;
  i->SizeInBytes = size;
  LOG("register graphics %d %lu -> %p", (int)h, (unsigned long)size, p);
  return OK;
}

// -------------------------------------------------------------------- topology
HSAKMT_STATUS HSAKMTAPI hsaKmtGetVersion(HsaVersionInfo *v) {
  v->KernelInterfaceMajorVersion = 1;
  v->KernelInterfaceMinorVersion = 8;
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtAcquireSystemProperties(HsaSystemProperties *p) {
  memset(p, 0, sizeof *p);
  p->NumNodes = 1 + g_ngpu;
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtReleaseSystemProperties(void) { return OK; }
HSAKMT_STATUS HSAKMTAPI hsaKmtGetNodeProperties(HSAuint32 n, HsaNodeProperties *p) {
  if (n > g_ngpu) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  memset(p, 0, sizeof *p);
  p->DrmRenderMinor = -1;
  if (n == 0) {
    p->NumCPUCores = sysconf(_SC_NPROCESSORS_ONLN);
    p->NumMemoryBanks = 1;
    p->NumCaches = 1;
    p->NumIOLinks = g_ngpu;
    strcpy((char *)p->AMDName, "fake CPU");
    for (int i = 0; "fake CPU"[i]; i++) p->MarketingName[i] = "fake CPU"[i];
    p->MaxEngineClockMhzCCompute = 2000;
    return OK;
  }
  p->NumFComputeCores = 240;
  p->NumSIMDPerCU = 4;
  p->NumShaderBanks = 4;
  p->NumArrays = 1;
  p->NumCUPerArray = 15;
  p->NumMemoryBanks = 4;
  p->NumCaches = 2;
  p->NumIOLinks = 1;
  p->FComputeIdLo = 0x80000000u + n * 0x1000;
  p->Capability.ui32.DoorbellType = 2;
  p->Capability.ui32.QueueSizePowerOfTwo = 1;
  p->Capability.ui32.ASICRevision = 1;
  p->Capability.ui32.SVMAPISupported = g_svm;
  p->MaxWavesPerSIMD = 10;
  p->LDSSizeInKB = 64;
  p->WaveFrontSize = 64;
  p->MaxSlotsScratchCU = 32;
  p->EngineId.ui32.Major = 9;
  p->EngineId.ui32.Minor = 0;
  p->EngineId.ui32.Stepping = 6;
  p->EngineId.ui32.uCode = 472;
  p->uCodeEngineVersions.uCodeSDMA = 145;
  p->VendorId = 0x1002;
  p->DeviceId = 0x66af;
  p->LocationId = 0x100u * (2 + n);
  p->LocalMemSize = g_vram;
  p->MaxEngineClockMhzFCompute = 1800;
  p->DrmRenderMinor = 127 + n;
  static const char name[] = "fake gfx906";
  for (int i = 0; name[i]; i++) p->MarketingName[i] = name[i];
  strcpy((char *)p->AMDName, "vega20");
#ifdef KMT6
  p->NumXcc = 1;
  p->FamilyID = 141;
  p->KFDGpuID = 0x1000 + n;
#endif
  p->NumSdmaEngines = 2;
  p->NumSdmaQueuesPerEngine = 8;
  p->NumCpQueues = 24;
  p->UniqueID = 0xfa4e0000ull + n;
  return OK;
}
static void *g_mmio;
HSAKMT_STATUS HSAKMTAPI hsaKmtGetNodeMemoryProperties(HSAuint32 n, HSAuint32 nb, HsaMemoryProperties *m) {
  if (n > g_ngpu) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  memset(m, 0, nb * sizeof *m);
  if (n == 0) {
    struct sysinfo si;
    sysinfo(&si);
    m[0].HeapType = HSA_HEAPTYPE_SYSTEM;
    m[0].SizeInBytes = ((uint64_t)si.totalram * si.mem_unit) & ~(PAGE - 1);
    return OK;
  }
  if (nb > 0) {
    m[0].HeapType = HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC;
    m[0].SizeInBytes = g_vram;
    m[0].Width = 4096;
    m[0].MemoryClockMax = 1000;
  }
  if (nb > 1) {
    m[1].HeapType = HSA_HEAPTYPE_GPU_LDS;
    m[1].SizeInBytes = 65536;
    m[1].VirtualBaseAddress = 0x1000000000000ull;
  }
  if (nb > 2) {
    m[2].HeapType = HSA_HEAPTYPE_GPU_SCRATCH;
    m[2].SizeInBytes = 4ull << 30;
    m[2].VirtualBaseAddress = 0x2000000000000ull;
  }
  if (nb > 3) {
    m[3].HeapType = HSA_HEAPTYPE_MMIO_REMAP;
    m[3].SizeInBytes = PAGE;
    m[3].VirtualBaseAddress = (uintptr_t)g_mmio;
  }
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtGetNodeCacheProperties(HSAuint32 n, HSAuint32 proc, HSAuint32 nc, HsaCacheProperties *c) {
  memset(c, 0, nc * sizeof *c);
  for (unsigned i = 0; i < nc; i++) {
    c[i].CacheLevel = i + 1;
    c[i].CacheSize = i ? 4096 : 16;
    c[i].CacheLineSize = 64;
    c[i].CacheType.ui32.Data = 1;
    if (n)
      c[i].CacheType.ui32.HSACU = 1;
    else
      c[i].CacheType.ui32.CPU = 1;
    c[i].ProcessorIdLow = proc;
  }
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtGetNodeIoLinkProperties(HSAuint32 n, HSAuint32 nl, HsaIoLinkProperties *l) {
  memset(l, 0, nl * sizeof *l);
  for (unsigned i = 0; i < nl; i++) {
    l[i].IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
    l[i].NodeFrom = n;
    l[i].NodeTo = n ? 0 : 1 + i;
    l[i].Weight = 20;
  }
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtGetClockCounters(HSAuint32 n, HsaClockCounters *c) {
  uint64_t t = now_ns();
  c->GPUClockCounter = t;
  c->CPUClockCounter = t;
  c->SystemClockCounter = t;
  c->SystemClockFrequencyHz = 1000000000ull;
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtGetTileConfig(HSAuint32 n, HsaGpuTileConfig *c) {
  c->NumTileConfigs = 0;
  c->NumMacroTileConfigs = 0;
  c->GbAddrConfig = 0x24000042;
  c->NumBanks = 4;
  c->NumRanks = 1;
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtRuntimeEnable(void *r, bool s) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS HSAKMTAPI hsaKmtRuntimeDisable(void) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS HSAKMTAPI hsaKmtGetXNACKMode(HSAint32 *e) {
  *e = 0;
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtSetXNACKMode(HSAint32 e) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS HSAKMTAPI hsaKmtSetTrapHandler(HSAuint32 n, void *b, HSAuint64 s, void *tb, HSAuint64 ts) { return OK; }

// ---------------------------------------------------------------------- events
static pthread_mutex_t ev_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ev_cond;
static struct {
  HsaEvent *e;
  bool manual, set;
} g_ev[MAXEV];
static uint64_t *g_mailbox;
static unsigned g_evhint = 1;

HSAKMT_STATUS HSAKMTAPI hsaKmtCreateEvent(HsaEventDescriptor *d, bool manual, bool set, HsaEvent **out) {
  HsaEvent *e = calloc(1, sizeof *e);
  if (!e) return HSAKMT_STATUS_NO_MEMORY;
  pthread_mutex_lock(&ev_lock);
  unsigned id = 0;
  for (unsigned k = 0; k < MAXEV - 1; k++) {
    unsigned i = 1 + (g_evhint - 1 + k) % (MAXEV - 1);
    if (!g_ev[i].e) {
      id = i;
      break;
    }
  }
  if (!id) {
    pthread_mutex_unlock(&ev_lock);
    free(e);
    return HSAKMT_STATUS_OUT_OF_RESOURCES;
  }
  g_evhint = id + 1;
  g_ev[id].e = e;
  g_ev[id].manual = manual;
  g_ev[id].set = set;
  e->EventId = id;
  e->EventData.EventType = d->EventType;
  e->EventData.HWData1 = id;
  if (d->EventType == HSA_EVENTTYPE_SIGNAL) {
    e->EventData.EventData.SyncVar = d->SyncVar;
    e->EventData.HWData2 = (uintptr_t)&g_mailbox[id];
  }
  e->EventData.HWData3 = id;
  pthread_mutex_unlock(&ev_lock);
  *out = e;
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtDestroyEvent(HsaEvent *e) {
  if (!e) return HSAKMT_STATUS_INVALID_HANDLE;
  pthread_mutex_lock(&ev_lock);
  g_ev[e->EventId].e = 0;
  pthread_mutex_unlock(&ev_lock);
  free(e);
  return OK;
}
static void raise_event(unsigned id) {
  if (!id || id >= MAXEV) return;
  pthread_mutex_lock(&ev_lock);
  g_ev[id].set = true;
  pthread_cond_broadcast(&ev_cond);
  pthread_mutex_unlock(&ev_lock);
}
HSAKMT_STATUS HSAKMTAPI hsaKmtSetEvent(HsaEvent *e) {
  if (!e) return HSAKMT_STATUS_INVALID_HANDLE;
  raise_event(e->EventId);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtResetEvent(HsaEvent *e) {
  if (!e) return HSAKMT_STATUS_INVALID_HANDLE;
  pthread_mutex_lock(&ev_lock);
  g_ev[e->EventId].set = false;
  pthread_mutex_unlock(&ev_lock);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtQueryEventState(HsaEvent *e) { return OK; }
HSAKMT_STATUS HSAKMTAPI hsaKmtWaitOnMultipleEvents(HsaEvent *ev[], HSAuint32 n, bool all, HSAuint32 ms) {
  struct timespec t;
  HSAKMT_STATUS r = OK;
  if (ms != 0xFFFFFFFFu) {
    if (ms > 0x7fffffff) ms = 0x7fffffff;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (ms % 1000) * 1000000l;
    if (t.tv_nsec >= 1000000000l) {
      t.tv_sec++;
      t.tv_nsec -= 1000000000l;
    }
  }
  pthread_mutex_lock(&ev_lock);
  for (;;) {
    unsigned hit = 0;
    for (unsigned i = 0; i < n; i++) hit += g_ev[ev[i]->EventId].set;
    if (hit && (!all || hit == n)) {
      for (unsigned i = 0; i < n; i++) {
        unsigned id = ev[i]->EventId;
        if (g_ev[id].set && !g_ev[id].manual) g_ev[id].set = false;
      }
      break;
    }
    if (ms == 0xFFFFFFFFu)
      pthread_cond_wait(&ev_cond, &ev_lock);
    else if (pthread_cond_timedwait(&ev_cond, &ev_lock, &t) == ETIMEDOUT) {
      r = HSAKMT_STATUS_WAIT_TIMEOUT;
      break;
    }
  }
  pthread_mutex_unlock(&ev_lock);
  return r;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtWaitOnEvent(HsaEvent *e, HSAuint32 ms) {
  if (!e) return HSAKMT_STATUS_INVALID_HANDLE;
  return hsaKmtWaitOnMultipleEvents(&e, 1, true, ms);
}

// ---------------------------------------------------- queues and their processor
typedef struct {
  bool used, busy;
  int type;
  char *ring;
  uint64_t bytes;
  volatile uint64_t *rptr, *wptr;
  uint64_t own_r, own_w, doorbell;
  bool active;
} Queue;
static Queue g_q[MAXQ];
static pthread_mutex_t q_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t g_worker;
static bool g_worker_on;
static _Atomic int g_stop;
static _Atomic uint64_t n_kern, n_barrier, n_vendor, n_sdma;

typedef struct {
  int64_t kind;
  volatile int64_t value;
  uint64_t mailbox;
  uint32_t event_id, r1;
  uint64_t start_ts, end_ts, queue;
  uint32_t r3[2];
} Sig;

static void complete(uint64_t h) {
  if (!h) return;
  Sig *s = (Sig *)h;
  uint64_t t = now_ns();
  s->start_ts = t;
  s->end_ts = t + 1;
  uint64_t mb = s->mailbox;
  uint32_t id = s->event_id; // read before: the waiter may free it
  __atomic_fetch_sub(&s->value, 1, __ATOMIC_ACQ_REL);
  if (mb) {
    *(volatile uint64_t *)mb = id;
    raise_event(id);
  }
}
static int64_t sigval(uint64_t h) { return __atomic_load_n(&((Sig *)h)->value, __ATOMIC_ACQUIRE); }

// The name of a kernel, found from its descriptor's address: the loaded code
// object starts with its ELF header, and its .dynsym is inside a loaded segment.
static bool kernel_name(uint64_t obj, char *out, size_t n) {
  pthread_mutex_lock(&g_lock);
  Alloc *a = find((void *)obj);
  uintptr_t base = a ? a->base : 0, end = a ? a->base + a->size : 0;
  pthread_mutex_unlock(&g_lock);
  if (!base) return false;
  for (uintptr_t p = obj & ~(PAGE - 1); p >= base; p -= PAGE) {
    Elf64_Ehdr *e = (Elf64_Ehdr *)p;
    if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_machine != 224 || e->e_phnum > 64) continue;
    Elf64_Phdr *ph = (Elf64_Phdr *)(p + e->e_phoff);
    Elf64_Dyn *dy = 0;
    uint64_t sym = 0, str = 0, hash = 0;
    for (int i = 0; i < e->e_phnum; i++)
      if (ph[i].p_type == PT_DYNAMIC) dy = (Elf64_Dyn *)(p + ph[i].p_vaddr);
    if (!dy || (uintptr_t)dy >= end) return false;
    for (; dy->d_tag; dy++) {
      if (dy->d_tag == DT_SYMTAB) sym = dy->d_un.d_ptr;
      if (dy->d_tag == DT_STRTAB) str = dy->d_un.d_ptr;
      if (dy->d_tag == DT_HASH) hash = dy->d_un.d_ptr;
    }
    if (!sym || !str || !hash) return false;
    uint32_t nsym = ((uint32_t *)(p + hash))[1];
    for (uint32_t i = 0; i < nsym; i++) {
      Elf64_Sym *s = (Elf64_Sym *)(p + sym) + i;
      if (p + s->st_value == obj && s->st_name) {
        snprintf(out, n, "%s", (char *)(p + str + s->st_name));
        char *k = strstr(out, ".kd");
        if (k && !k[3]) *k = 0;
        return true;
      }
    }
    return false;
  }
  return false;
}
#define KA(T, off) (*(T *)((char *)ka + (off)))
// HIP's own fill and copy kernels are carried out on the CPU; a test can supply
// C functions for its own kernels in a shared object named by FAKEKMT_KERNELS:
//   void <mangled kernel name>(void *kernarg, const uint32_t grid[3], const uint16_t block[3]);
// Every other kernel only completes.
static void run_kernel(unsigned char *p) {
  static void *user;
  static bool tried;
  char name[256] = "?";
  void *ka = xlate(*(uint64_t *)(p + 40));
  bool known = kernel_name(*(uint64_t *)(p + 32), name, sizeof name), done = true;
  if (!tried) {
    tried = true;
    const char *l = getenv("FAKEKMT_KERNELS");
    if (l && *l) user = dlopen(l, RTLD_NOW | RTLD_LOCAL);
  }
  if (!known) { // ROCr's own blit kernels: amd_kernel_code_t + code, no ELF around
    unsigned char *ko = *(unsigned char **)(p + 32);
    uint32_t rs = *(uint32_t *)(ko + 48), vg = rs & 63, sg = (rs >> 6) & 15;
    if (((uintptr_t)ko & (PAGE - 1)) || *(int64_t *)(ko + 16) != 256)
      done = false;
    else if (sg == 3 && vg == 2) {
      strcpy(name, "rocr CopyAligned");
      memmove(xlate(KA(uint64_t, 8)), xlate(KA(uint64_t, 0)), KA(uint64_t, 64) - KA(uint64_t, 0));
    } else if (sg == 2 && vg == 2) {
      strcpy(name, "rocr CopyMisaligned");
      memmove(xlate(KA(uint64_t, 8)), xlate(KA(uint64_t, 0)), KA(uint64_t, 32) - KA(uint64_t, 0));
    } else if (sg == 2 && vg == 1) {
      strcpy(name, "rocr Fill");
      uint32_t *d = xlate(KA(uint64_t, 0));
      uint64_t c = (KA(uint64_t, 16) - KA(uint64_t, 0)) / 4;
      while (c--) *d++ = KA(uint32_t, 24);
    } else
      done = false;
  } else if (!strcmp(name, "__amd_rocclr_fillBufferAligned") || !strcmp(name, "__amd_rocclr_fillBufferAligned2D")) {
    int k = KA(uint64_t, 24) ? 3 : KA(uint64_t, 16) ? 2 : KA(uint64_t, 8) ? 1 : 0;
    uint64_t es = 1ull << k;
    char *d = xlate(KA(uint64_t, k * 8)), *pat = xlate(KA(uint64_t, 32));
    uint64_t pn = KA(uint32_t, 40) * es, org = KA(uint64_t, 48) * es;
    if (name[strlen(name) - 1] == 'D') {
      uint64_t w = KA(uint64_t, 56), h = KA(uint64_t, 64), pt = KA(uint64_t, 72);
      for (uint64_t y = 0; y < h; y++)
        for (uint64_t x = 0; x < w; x++) memcpy(d + org + (y * pt + x) * es, pat, pn);
    } else {
      uint64_t c = KA(uint64_t, 56);
      for (uint64_t i = 0; i < c; i++) memcpy(d + org + i * pn, pat, pn);
    }
  } else if (!strcmp(name, "__amd_rocclr_copyBuffer")) {
    uint64_t sz = KA(uint64_t, 32);
    uint32_t rem = KA(uint32_t, 40);
    uint64_t bytes = rem == 8 ? sz : (sz - 1) * 4 + rem;
    memmove((char *)xlate(KA(uint64_t, 8)) + KA(uint64_t, 24), (char *)xlate(KA(uint64_t, 0)) + KA(uint64_t, 16),
            bytes);
  } else if (!strcmp(name, "__amd_rocclr_copyBufferRect") || !strcmp(name, "__amd_rocclr_copyBufferRectAligned")) {
    uint64_t *s = &KA(uint64_t, 32), *d = &KA(uint64_t, 64), *c = &KA(uint64_t, 96),
             es = name[27] ? (c[3] == 16 ? 16 : 4) : 1;
    char *sp = xlate(KA(uint64_t, 0)), *dp = xlate(KA(uint64_t, 8));
    for (uint64_t z = 0; z < c[2]; z++)
      for (uint64_t y = 0; y < c[1]; y++)
        memcpy(dp + (d[2] + y * d[0] + z * d[1]) * es, sp + (s[2] + y * s[0] + z * s[1]) * es, c[0] * es);
  } else {
    void (*f)(void *, const uint32_t *, const uint16_t *) =
        user ? (void (*)(void *, const uint32_t *, const uint16_t *))dlsym(user, name) : 0;
    if (f)
      f(ka, (uint32_t *)(p + 12), (uint16_t *)(p + 4));
    else
      done = false;
  }
  LOG("kernel %s grid=%u: %s", name, *(uint32_t *)(p + 12), done ? "run on the CPU" : "not executed");
}

static bool step_aql(Queue *q) {
  uint64_t r = *q->rptr, np = q->bytes / 64;
  if (r >= __atomic_load_n(q->wptr, __ATOMIC_ACQUIRE)) return false;
  unsigned char *p = (unsigned char *)q->ring + (r % np) * 64;
  uint16_t hdr = __atomic_load_n((uint16_t *)p, __ATOMIC_ACQUIRE);
  unsigned type = hdr & 0xff;
  uint64_t *u = (uint64_t *)p;
  switch (type) {
  case 1:
    return false; // INVALID: not written yet
  case 0:         // vendor: PM4 IB or AMD barrier-value
    if (p[2] == 2 && u[1]) {
      int64_t v = sigval(u[1]) & (int64_t)u[3], c = (int64_t)u[2];
      uint32_t cond = *(uint32_t *)(p + 32);
      bool ok = cond == 0 ? v == c : cond == 1 ? v != c : cond == 2 ? v < c : v >= c;
      if (!ok) return false;
    }
    n_vendor++;
    break;
  case 3:
    for (int i = 1; i <= 5; i++)
      if (u[i] && sigval(u[i]) != 0) return false;
    n_barrier++;
    break;
  case 5: {
    bool any = false, dep = false;
    for (int i = 1; i <= 5; i++)
      if (u[i]) {
        dep = true;
        any |= sigval(u[i]) == 0;
      }
    if (dep && !any) return false;
    n_barrier++;
    break;
  }
  case 2:
    n_kern++;
    run_kernel(p);
    break;
  default:
    break;
  }
  uint64_t sig = u[7];
  __atomic_store_n((uint16_t *)p, 1, __ATOMIC_RELEASE);
  __atomic_store_n(q->rptr, r + 1, __ATOMIC_RELEASE);
  complete(sig);
  return true;
}

static void rect(uint32_t *d) {
  unsigned es = d[0] >> 29;
  uint64_t src = d[1] | (uint64_t)d[2] << 32, dst = d[6] | (uint64_t)d[7] << 32;
  uint64_t sx = d[3] & 0x3fff, sy = (d[3] >> 16) & 0x3fff, sz = d[4] & 0x7ff, sp = (d[4] >> 13) + 1ull,
           ss = (d[5] & 0xfffffff) + 1ull;
  uint64_t dx = d[8] & 0x3fff, dy = (d[8] >> 16) & 0x3fff, dz = d[9] & 0x7ff, dp = (d[9] >> 13) + 1ull,
           ds = (d[10] & 0xfffffff) + 1ull;
  uint64_t w = (d[11] & 0x3fff) + 1ull, h = ((d[11] >> 16) & 0x3fff) + 1ull, z = (d[12] & 0x7ff) + 1ull;
  for (uint64_t k = 0; k < z; k++)
    for (uint64_t j = 0; j < h; j++)
      memcpy((char *)xlate(dst) + ((dx + (dy + j) * dp + (dz + k) * ds) << es),
             (char *)xlate(src) + ((sx + (sy + j) * sp + (sz + k) * ss) << es), w << es);
}
static bool step_sdma(Queue *q) {
  uint64_t r = *q->rptr, w = __atomic_load_n(q->wptr, __ATOMIC_ACQUIRE);
  if (r >= w) return false;
  uint32_t *d = (uint32_t *)(q->ring + r % q->bytes);
  unsigned op = d[0] & 0xff, sub = (d[0] >> 8) & 0xff, n = 1;
  uint64_t a1 = d[1] | (uint64_t)d[2] << 32;
  switch (op) {
  case 0:
    n = 1;
    break; // NOP
  case 1:
    if (sub == 4) {
      rect(d);
      n = 13;
    } // COPY
    else {
      memmove(xlate(d[5] | (uint64_t)d[6] << 32), xlate(d[3] | (uint64_t)d[4] << 32), (d[1] & 0x3fffff) + 1ull);
      n = 7;
    }
    break;
  case 5:
    __atomic_store_n((uint32_t *)a1, d[3], __ATOMIC_RELEASE);
    n = 4;
    break; // FENCE
  case 6:
    raise_event(d[1] & 0xfffffff);
    n = 2;
    break; // TRAP
  case 8:
    if ((d[0] >> 31) && ((d[0] >> 28) & 7) == 3) {
      if ((__atomic_load_n((uint32_t *)a1, __ATOMIC_ACQUIRE) & d[4]) != d[3]) return false;
    }
    n = 6;
    break; // POLL
  case 10:
    __atomic_fetch_add((uint64_t *)a1, d[3] | (uint64_t)d[4] << 32, __ATOMIC_ACQ_REL);
    n = 8;
    break; // ATOMIC ADD64
  case 11: {
    uint64_t c = (d[4] & 0x3fffff) / 4 + 1;
    uint32_t *t = xlate(a1);
    for (uint64_t i = 0; i < c; i++) t[i] = d[3];
    n = 5;
    break;
  } // FILL
  case 13:
    *(uint64_t *)a1 = now_ns();
    n = 3;
    break; // TIMESTAMP
  case 17:
    n = 5;
    break; // GCR
  default:
    LOG("unknown SDMA op %u", op);
    n = 1;
  }
  if (op) n_sdma++;
  __atomic_store_n(q->rptr, r + n * 4, __ATOMIC_RELEASE);
  return true;
}
static void *worker(void *arg) {
  (void)arg;
  pthread_setname_np(pthread_self(), "fake-gpu");
  unsigned idle = 0;
  while (!g_stop) {
    bool did = false;
    pthread_mutex_lock(&q_lock);
    for (int i = 0; i < MAXQ; i++) {
      Queue *q = &g_q[i];
      if (!q->used || !q->active) continue;
      for (int k = 0; k < 64; k++) {
        if (!(q->type == HSA_QUEUE_COMPUTE_AQL ? step_aql(q) : step_sdma(q))) break;
        did = true;
      }
    }
    pthread_mutex_unlock(&q_lock);
    if (did) {
      idle = 0;
      continue;
    }
    idle++;
    if (idle < 20)
      sched_yield();
    else {
      struct timespec t = {0, idle < 2000 ? 50000 : 500000};
      nanosleep(&t, 0);
    }
  }
  return 0;
}
static void start_worker(void) {
  if (g_worker_on) return;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  g_stop = 0;
  g_worker_on = pthread_create(&g_worker, 0, worker, 0) == 0;
  pthread_sigmask(SIG_SETMASK, &old, 0);
}
HSAKMT_STATUS HSAKMTAPI hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 pct, HSA_QUEUE_PRIORITY pri,
                                          void *ring, HSAuint64 bytes, HsaEvent *ev, HsaQueueResource *r) {
  if (type != HSA_QUEUE_COMPUTE_AQL && type != HSA_QUEUE_SDMA && type != HSA_QUEUE_SDMA_XGMI)
    return HSAKMT_STATUS_NOT_SUPPORTED;
  pthread_mutex_lock(&q_lock);
  int i = 0;
  while (i < MAXQ && g_q[i].used) i++;
  if (i == MAXQ) {
    pthread_mutex_unlock(&q_lock);
    return HSAKMT_STATUS_OUT_OF_RESOURCES;
  }
  Queue *q = &g_q[i];
  memset(q, 0, sizeof *q);
  q->type = type;
  q->ring = ring;
  q->bytes = bytes;
  q->active = true;
  if (type == HSA_QUEUE_COMPUTE_AQL) {
    q->rptr = r->Queue_read_ptr_aql;
    q->wptr = r->Queue_write_ptr_aql;
  } else {
    q->rptr = &q->own_r;
    q->wptr = &q->own_w;
    r->Queue_read_ptr_aql = &q->own_r;
    r->Queue_write_ptr_aql = &q->own_w;
  }
  r->Queue_DoorBell_aql = &q->doorbell;
  r->QueueId = 0x1000 + i;
  q->used = true;
  start_worker();
  pthread_mutex_unlock(&q_lock);
  LOG("create queue %d type=%d ring=%p bytes=%lu", i, type, ring, (unsigned long)bytes);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 pct, HSA_QUEUE_PRIORITY pri, void *a, HSAuint64 s,
                                          HsaEvent *e) {
  unsigned i = id - 0x1000;
  if (i >= MAXQ) return HSAKMT_STATUS_INVALID_PARAMETER;
  pthread_mutex_lock(&q_lock);
  g_q[i].active = pct != 0;
  pthread_mutex_unlock(&q_lock);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtDestroyQueue(HSA_QUEUEID id) {
  unsigned i = id - 0x1000;
  if (i >= MAXQ) return HSAKMT_STATUS_INVALID_PARAMETER;
  pthread_mutex_lock(&q_lock);
  g_q[i].used = false;
  pthread_mutex_unlock(&q_lock);
  LOG("destroy queue %u", i);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtSetQueueCUMask(HSA_QUEUEID id, HSAuint32 n, HSAuint32 *m) { return OK; }
HSAKMT_STATUS HSAKMTAPI hsaKmtAllocQueueGWS(HSA_QUEUEID id, HSAuint32 n, HSAuint32 *f) {
  if (f) *f = 0;
  return OK;
}

// ------------------------------------------------------------------- open/close
static void after_fork(void) { // the KFD does not survive fork() either
  g_open = 0;
  g_worker_on = false;
  memset(g_q, 0, sizeof g_q);
  pthread_mutex_init(&g_lock, 0);
  pthread_mutex_init(&q_lock, 0);
  pthread_mutex_init(&ev_lock, 0);
}
HSAKMT_STATUS HSAKMTAPI hsaKmtOpenKFD(void) {
  static int once;
  if (!once) {
    once = 1;
    g_ngpu = env_u64("FAKEKMT_GPUS", 1);
    if (g_ngpu > MAXGPU) g_ngpu = MAXGPU;
    g_vram = env_u64("FAKEKMT_VRAM_MB", 16384) << 20;
    g_svm = env_u64("FAKEKMT_SVM", 1);
    pthread_condattr_t ca;
    pthread_condattr_init(&ca);
    pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
    pthread_cond_init(&ev_cond, &ca);
    g_mailbox = mmap(0, MAXEV * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_mmio = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_atfork(0, 0, after_fork);
  }
  logf_("[fakekmt] open: %u GPU(s), %lu MiB VRAM each", g_ngpu, (unsigned long)(g_vram >> 20));
  return g_open++ ? HSAKMT_STATUS_KERNEL_ALREADY_OPENED : OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtCloseKFD(void) {
  if (g_open > 0 && --g_open == 0 && g_worker_on) {
    g_stop = 1;
    pthread_join(g_worker, 0);
    g_worker_on = false;
  }
  LOG("close: %lu kernels, %lu barriers, %lu vendor packets, %lu sdma packets", (unsigned long)n_kern,
      (unsigned long)n_barrier, (unsigned long)n_vendor, (unsigned long)n_sdma);
  return OK;
}

// ------------------------------------------- calls that ROCr 6 added (trixie)
#ifdef KMT6
HSAKMT_STATUS HSAKMTAPI hsaKmtAvailableMemory(HSAuint32 n, HSAuint64 *b) {
  if (!n || n > g_ngpu) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  pthread_mutex_lock(&g_lock);
  *b = g_vram - g_vram_used[n - 1];
  pthread_mutex_unlock(&g_lock);
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtExportDMABufHandle(void *p, HSAuint64 s, int *fd, HSAuint64 *off) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtGetAMDGPUDeviceHandle(HSAuint32 n, HsaAMDGPUDeviceHandle *h) {
  *h = (void *)(uintptr_t)n;
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtGetRuntimeCapabilities(HSAuint32 *c) {
  *c = 0;
  return OK;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtOpenSMI(HSAuint32 n, int *fd) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS HSAKMTAPI hsaKmtDbgEnable(void **r, HSAuint32 *s) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS HSAKMTAPI hsaKmtDbgDisable(void) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS HSAKMTAPI hsaKmtDbgGetDeviceData(void **d, HSAuint32 *n, HSAuint32 *s) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtDbgGetQueueData(void **d, HSAuint32 *n, HSAuint32 *s, bool x) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtReplaceAsanHeaderPage(void *a) { return OK; }
HSAKMT_STATUS HSAKMTAPI hsaKmtReturnAsanHeaderPage(void *a) { return OK; }
HSAKMT_STATUS HSAKMTAPI hsaKmtSPMAcquire(HSAuint32 n) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS HSAKMTAPI hsaKmtSPMRelease(HSAuint32 n) { return HSAKMT_STATUS_NOT_SUPPORTED; }
HSAKMT_STATUS HSAKMTAPI hsaKmtSPMSetDestBuffer(HSAuint32 n, HSAuint32 s, HSAuint32 *t, HSAuint32 *c, void *d, bool *l) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
HSAKMT_STATUS HSAKMTAPI hsaKmtWaitOnEvent_Ext(HsaEvent *e, HSAuint32 ms, uint64_t *age) {
  return hsaKmtWaitOnEvent(e, ms);
}
HSAKMT_STATUS HSAKMTAPI hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *e[], HSAuint32 n, bool all, HSAuint32 ms,
                                                       uint64_t *age) {
  return hsaKmtWaitOnMultipleEvents(e, n, all, ms);
}
// ROCr 6 asks libdrm for the GPU clock; this library comes first in its NEEDED list
int amdgpu_query_gpu_info(void *dev, void *info) {
  memset(info, 0, 128);
  *(uint32_t *)((char *)info + 72) = 1000000;
  return 0;
} // gpu_counter_freq, kHz
#endif
