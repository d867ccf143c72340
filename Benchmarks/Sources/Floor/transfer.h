// What the floor's two forms share: the settings, and transfers with the options that the curl stack sets.
#ifndef TRANSFER_H
#define TRANSFER_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transfer {
    CURL *easy;
    char *head, *body;
    size_t head_length, head_capacity, body_length, body_capacity;
    uint64_t started;
    int file;
    bool is_held;
};

extern CURLM *multi;

// Reads the settings, and sets libcurl and the multi handle up; without a URL it says so and answers false.
bool prepare(int argc, char **argv);
const char *text(const char *key, const char *standard);
long number(const char *key, long standard);

// Gives a transfer a handle that has been told everything but the URL.
void make(struct transfer *transfer, bool is_held);
// Tells the transfer's handle the URL, and adds it to the multi handle.
void ask(struct transfer *transfer);

#endif
