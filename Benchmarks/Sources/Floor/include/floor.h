// The floor, as a library: see floor.c.
#ifndef FLOOR_H
#define FLOOR_H

#include <stdbool.h>
#include <stddef.h>

// What a program makes of a whole response's content: what the fetch returns, or -1 if it is not what it should be.
typedef long (*floor_reader)(const char *content, size_t count);

// Runs the program: its settings are the arguments, `key=value` each; it prints one line of JSON.
// Without a reader a fetch returns the length of its content. Answers the status to exit with.
int floor_run(int argc, char **argv, floor_reader reader);

// The same transfers on a thread of their own (thread.c), for clients whose callers wait elsewhere.

// A fetch has ended: who waits for it, its content, which is the callee's to free, and whether it was whole with a 2xx status.
typedef void (*floor_ended)(void *waiter, char *content, size_t count, bool is_whole);
// All that have ended in one turn have been told of.
typedef void (*floor_turned)(void);

// Starts the thread, with a program's settings; both functions are called on it. Answers whether that went well.
bool floor_start(int argc, char **argv, floor_ended ended, floor_turned turned);

// Fetches, on behalf of somebody who waits. No more than the settings' `in_flight` may do so at a time.
void floor_fetch(void *waiter);

#endif
