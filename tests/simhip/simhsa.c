// The six functions of libhsa-runtime64.so that Mojo's runtime asks for the GPU behind simhip: its place on the PCI bus
// and its architecture have to be what HIP says (hsa.h, hsa_ext_amd.h of ROCm 5.2 to 7.2).
#include <stdint.h>
#include <string.h>

typedef int status;
typedef struct {
  uint64_t handle;
} handle;

#define GPU 1u
#define ISA 2u
#define HSA_AGENT_NAME 0
#define HSA_AGENT_DEVICE 17
#define HSA_AMD_AGENT_BDF 0xA006
#define HSA_AMD_AGENT_DOMAIN 0xA00F
#define HSA_ISA_NAME_LENGTH 0
#define HSA_ISA_NAME 1

static const char isa_name[] = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";

status hsa_init(void) { return 0; }
status hsa_shut_down(void) { return 0; }
status hsa_iterate_agents(status (*visit)(handle, void *), void *context) { return visit((handle){GPU}, context); }

status hsa_agent_get_info(handle agent, int attribute, void *value) {
  (void)agent;
  switch (attribute) {
  case HSA_AGENT_NAME:
    strcpy(value, "gfx90a");
    break;
  case HSA_AGENT_DEVICE:
    *(int *)value = 1; // HSA_DEVICE_TYPE_GPU
    break;
  case HSA_AMD_AGENT_BDF:
    *(uint32_t *)value = 1 << 8 | 1 << 3; // bus 1, device 1
    break;
  default:
    *(uint32_t *)value = 0;
  }
  return 0;
}

status hsa_agent_iterate_isas(handle agent, status (*visit)(handle, void *), void *context) {
  (void)agent;
  return visit((handle){ISA}, context);
}

status hsa_isa_get_info_alt(handle isa, int attribute, void *value) {
  (void)isa;
  if (attribute == HSA_ISA_NAME_LENGTH) *(uint32_t *)value = sizeof isa_name;
  if (attribute == HSA_ISA_NAME) memcpy(value, isa_name, sizeof isa_name);
  return 0;
}
