// HIP_NAME(name) for each function of the table. No include guard: included once for each list.
#define MAKES(name, parameters, arguments, asked, after) HIP_NAME(name)
#define FREES(name, parameters, arguments, space, key) HIP_NAME(name)
#define WATCHES(name, parameters, arguments, after) HIP_NAME(name)
#define LENDS(name, parameters, arguments, out, after) HIP_NAME(name)
#define ENDS(name, parameters, arguments, before, refused) HIP_NAME(name)
#define SETTLES(name, parameters, arguments, after) HIP_NAME(name)
#include "hip_functions.def"
#undef MAKES
#undef FREES
#undef WATCHES
#undef LENDS
#undef ENDS
#undef SETTLES
