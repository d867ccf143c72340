// The floor, as a library: see floor.c.
#ifndef FLOOR_H
#define FLOOR_H

#include <stddef.h>

// What a program makes of a whole response's content: what the fetch returns, or -1 if it is not what it should be.
typedef long (*floor_reader)(const char *content, size_t count);

// Runs the program: its settings are the arguments, `key=value` each; it prints one line of JSON.
// Without a reader a fetch returns the length of its content. Answers the status to exit with.
int floor_run(int argc, char **argv, floor_reader reader);

#endif
