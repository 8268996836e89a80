// An empty array of a type with a destructor: the block holds only its count, and the program keeps the end of it.
// expect none
struct destroyed {
  ~destroyed();
  int number;
};
destroyed::~destroyed() { number = 0; }

static destroyed *held;

int main() {
  held = new destroyed[0];
  return 0;
}
