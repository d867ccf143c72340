#include "floor.h"

int main(int argc, char **argv) { return floor_run(argc, argv, NULL); }
