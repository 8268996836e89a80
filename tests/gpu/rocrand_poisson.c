// rocRAND's tables for a Poisson distribution, never destroyed: 832 bytes in 4 blocks.
// build: -l:librocrand.so.1 -l:libamdhip64.so.5
int rocrand_create_poisson_distribution(double lambda, void **distribution);

static __attribute__((noinline)) int poisson_lose(void) {
  void *distribution;
  return rocrand_create_poisson_distribution(10.0, &distribution); // @poisson
}

int main(void) { return poisson_lose(); }
