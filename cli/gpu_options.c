#include "gpu_options.h"

#include <stdlib.h>
#include <string.h>

#include "file_format.h"
#include "options.h"
#include "problem.h"

static const struct part {
  const char *name;
  uint64_t bits;
} parts[] = {{"sites", HT_GPU_TIMELINE_SITES},
             {"streams", HT_GPU_TIMELINE_STREAMS},
             {"frag", HT_GPU_TIMELINE_FRAG},
             {"all", HT_GPU_TIMELINE_SITES | HT_GPU_TIMELINE_STREAMS | HT_GPU_TIMELINE_FRAG}};

static uint64_t part_named(const char *name, size_t bytes) {
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strlen(parts[i].name) == bytes && memcmp(parts[i].name, name, bytes) == 0) return parts[i].bits;
  return 0;
}

bool gpu_timeline_parse(const char *command, const char *text, uint64_t *bits) {
  *bits = 0;
  for (const char *at = text;; at++) {
    size_t bytes = strcspn(at, ",");
    uint64_t part = part_named(at, bytes);
    if (!part) {
      complain("%s: bad value '%s' for --gpu-timeline; give sites, streams, frag (joined by commas) or all", command,
               text);
      return false;
    }
    *bits |= part;
    at += bytes;
    if (!*at) return true;
  }
}

// Where they are read: PyTorch c10/core/CachingDeviceAllocator and c10/hip/HIPCachingAllocator.cpp (either of its two;
// any value turns the pool off), Mojo's runtime (a size of 0), XLA xla/python/xla.cc, tinygrad's device.py.
static const struct variable {
  const char *name, *value;
} variables[] = {{"PYTORCH_NO_HIP_MEMORY_CACHING", "1"},
                 {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1"},
                 {"MODULAR_DEVICE_CONTEXT_MEMORY_MANAGER_SIZE", "0"},
                 {"MODULAR_DEVICE_CONTEXT_HOST_MEMORY_MANAGER_SIZE", "0"},
                 {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
                 {"LRU", "0"}};

bool gpu_pools_off(void) {
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *set = getenv(variables[i].name);
    if (set && strcmp(set, variables[i].value) != 0)
      complain("--gpu: %s is set to '%s' and stays so; its pool may hide what is in it", variables[i].name, set);
    else if (!set && setenv(variables[i].name, variables[i].value, 1) < 0)
      return false;
  }
  return true;
}
