// The floor: what the work costs in C on libcurl's multi interface, with the options the curl stack sets, handles reused and
// the content handed over. `libcurl-c-poll` waits with curl_multi_poll, `libcurl-c-epoll` drives curl_multi_socket_action.
//
// Every ratio is taken over this program: it changes in a commit of its own, or not at all.
#define _GNU_SOURCE
#include "transfer.h"
#include "floor.h"
#include <curl/curl.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Settings.

static int setting_count;
static char **settings;

const char *text(const char *key, const char *standard) {
    size_t length = strlen(key);
    for (int i = 1; i < setting_count; i++)
        if (strncmp(settings[i], key, length) == 0 && settings[i][length] == '=') return settings[i] + length + 1;
    return standard;
}

long number(const char *key, long standard) {
    const char *value = text(key, NULL);
    return value ? strtol(value, NULL, 10) : standard;
}

// Measuring.

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void memory(long *resident, long *peak) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    *resident = *peak = 0;
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "VmRSS: %ld", resident);
        sscanf(line, "VmHWM: %ld", peak);
    }
    if (file) fclose(file);
    *resident *= 1024;
    *peak *= 1024;
}

struct usage {
    double cpu;
    long voluntary, involuntary;
};

static struct usage usage(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (struct usage){r.ru_utime.tv_sec + r.ru_utime.tv_usec / 1e6 + r.ru_stime.tv_sec + r.ru_stime.tv_usec / 1e6,
                          r.ru_nvcsw, r.ru_nivcsw};
}

// The tally of a phase.

static struct {
    long fetches, errors, left;
    uint64_t deadline;
    char error[256];
    uint32_t latencies[40 * 256];
} tally;

static void record(uint64_t ns) {
    int shift = 64 - 8 - (ns ? __builtin_clzll(ns) : 64);
    if (shift < 0) shift = 0;
    size_t index = (size_t)shift * 256 + (size_t)(ns >> shift);
    if (index >= 40 * 256) index = 40 * 256 - 1;
    tally.latencies[index]++;
}

static bool takes_another(uint64_t now) {
    if (now >= tally.deadline || tally.left <= 0) return false;
    tally.left--;
    return true;
}

// Transfers.

CURLM *multi;
static struct curl_slist *lines;
static const char *url, *held_url;
static long expected;
static bool is_distinct; // each transfer asks for another URL
static bool streams; // content is counted and dropped while it arrives
static floor_reader reader;

static size_t append(char **bytes, size_t *length, size_t *capacity, const char *more, size_t count, size_t at_once) {
    if (*length + count > *capacity) {
        size_t wanted = at_once >= *length + count ? at_once : (*length + count) * 2;
        char *grown = realloc(*bytes, wanted);
        if (!grown) return 0;
        *bytes = grown;
        *capacity = wanted;
    }
    memcpy(*bytes + *length, more, count);
    *length += count;
    return count;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *t = context;
    return append(&t->head, &t->head_length, &t->head_capacity, bytes, size * count, 1024);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *t = context;
    size_t at_once = 0;
    if (streams) {
        t->body_length += size * count;
        return size * count;
    }
    if (t->body_length == 0) {
        curl_off_t length = 0;
        curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        at_once = length > 0 ? (size_t)length : 0;
    }
    return append(&t->body, &t->body_length, &t->body_capacity, bytes, size * count, at_once);
}

static size_t on_read(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *t = context;
    ssize_t got = read(t->file, bytes, size * count);
    return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

static char pins[4096];

// "a,b" as the clients are told, "sha256//a;sha256//b" as libcurl is.
static void read_pins(const char *list) {
    while (*list) {
        size_t length = strcspn(list, ","), used = strlen(pins);
        snprintf(pins + used, sizeof pins - used, "%ssha256//%.*s", used ? ";" : "", (int)length, list);
        list += length + (list[length] == ',');
    }
}

void make(struct transfer *t, bool is_held) {
    static char *content;
    CURL *easy = t->easy = curl_easy_init();
    t->file = -1;
    t->is_held = is_held;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    bool is_secure = strncmp(url, "https", 5) == 0;
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, is_secure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, is_secure ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 60000L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    if (text("ca", NULL)) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, text("ca", NULL));
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (pins[0]) {
        curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, pins);
        curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L); // a resumed session shows no certificate
    }
    if (is_held) return;
    long body = number("body_bytes", 0);
    const char *path = text("body_file", NULL);
    if (path) {
        struct stat status;
        t->file = open(path, O_RDONLY);
        if (t->file < 0 || fstat(t->file, &status) != 0) exit(66);
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(easy, CURLOPT_READDATA, t);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
    } else if (body > 0) {
        if (!content) memset(content = malloc((size_t)body), 'x', (size_t)body);
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, content);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body);
    }
    if (path || body > 0) curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, text("method", "POST"));
}

static long under_way; // of those that are measured

static void start(struct transfer *t, uint64_t now) {
    if (!t->is_held) under_way++;
    t->started = now;
    ask(t);
}

void ask(struct transfer *t) {
    t->head_length = t->body_length = 0;
    if (t->file >= 0) lseek(t->file, 0, SEEK_SET);
    if (is_distinct && !t->is_held) {
        static long count;
        char next[2048];
        snprintf(next, sizeof next, "%s?n=%ld", url, ++count);
        curl_easy_setopt(t->easy, CURLOPT_URL, next);
    } else {
        curl_easy_setopt(t->easy, CURLOPT_URL, t->is_held ? held_url : url);
    }
    curl_multi_add_handle(multi, t->easy);
}

static long finish_ended(void) {
    CURLMsg *message;
    int left;
    long ended = 0;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        struct transfer *t;
        CURLcode code = message->data.result;
        long status = 0;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(multi, t->easy);
        bool is_whole = code == CURLE_OK && status >= 200 && status < 300;
        long value = is_whole && reader ? reader(t->body, t->body_length) : (long)t->body_length;
        uint64_t now = now_ns();
        if (is_whole && (expected < 0 || value == expected)) {
            tally.fetches++;
            record(now - t->started);
        } else {
            if (!tally.error[0])
                snprintf(tally.error, sizeof tally.error, "%s, status %ld, %zu bytes", curl_easy_strerror(code), status,
                         t->body_length);
            tally.errors++;
        }
        // The content is the caller's, as with every client here: it gets a buffer of its own for each fetch and lets it go.
        free(t->body);
        t->body = NULL;
        t->body_capacity = 0;
        ended++;
        if (t->is_held) continue;
        under_way--;
        if (takes_another(now)) start(t, now);
    }
    return ended;
}

// Waiting.

static bool uses_epoll;
static int epoll_fd = -1;
static long timeout_ms = -1;

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy, (void)context;
    struct epoll_event event = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0),
                                .data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, socket, &event);
    } else {
        epoll_ctl(epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
        if (!known) curl_multi_assign(multi, socket, &epoll_fd);
    }
    return 0;
}

static int on_timer(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    timeout_ms = milliseconds; // relative to now, and never long: the wait above ends within a second
    return 0;
}

static void turn(void) {
    int running = 0;
    if (!uses_epoll) {
        curl_multi_perform(multi, &running);
        if (finish_ended() == 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
        return;
    }
    struct epoll_event events[256];
    if (timeout_ms == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    if (finish_ended() > 0) return;
    int count = epoll_wait(epoll_fd, events, 256, timeout_ms < 0 || timeout_ms > 1000 ? 1000 : (int)timeout_ms);
    if (count == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    for (int i = 0; i < count; i++) {
        int mask = (events[i].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
                   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (events[i].events & EPOLLERR ? CURL_CSELECT_ERR : 0);
        curl_multi_socket_action(multi, events[i].data.fd, mask, &running);
    }
    finish_ended();
}

static void phase(struct transfer *transfers, long in_flight, long fetches, long milliseconds) {
    memset(&tally, 0, sizeof tally);
    uint64_t now = now_ns();
    tally.left = fetches > 0 ? fetches : INT64_MAX;
    tally.deadline = fetches > 0 ? UINT64_MAX : now + (uint64_t)milliseconds * 1000000u;
    for (long i = 0; i < in_flight; i++)
        if (takes_another(now)) start(&transfers[i], now);
    while (under_way > 0) turn();
}

// How many responses the server holds open, asked with a handle outside the multi handle.
static size_t on_count(char *bytes, size_t size, size_t count, void *context) {
    char digits[32] = {0};
    memcpy(digits, bytes, size * count < 31 ? size * count : 31);
    *(long *)context = strtol(digits, NULL, 10);
    return size * count;
}

static void hold(struct transfer *transfers, long count) {
    CURL *counter = curl_easy_init();
    long held = 0;
    curl_easy_setopt(counter, CURLOPT_URL, text("held_count_url", ""));
    curl_easy_setopt(counter, CURLOPT_WRITEFUNCTION, on_count);
    curl_easy_setopt(counter, CURLOPT_WRITEDATA, &held);
    for (long i = 0; i < count; i++) {
        make(&transfers[i], true);
        start(&transfers[i], now_ns());
    }
    uint64_t latest = now_ns();
    while (held < count) {
        turn();
        if (now_ns() - latest > 50000000u) {
            curl_easy_perform(counter);
            latest = now_ns();
        }
    }
    curl_easy_cleanup(counter);
    // The server has answered; what it sent is still to be taken.
    while (now_ns() - latest < 1500000000u) turn();
}

bool prepare(int argc, char **argv) {
    setting_count = argc;
    settings = argv;
    url = text("url", NULL);
    if (!url) return fprintf(stderr, "bench-floor: the setting 'url' is missing\n"), false;
    held_url = text("held_url", NULL);
    expected = number("expect", -1);
    streams = number("stream", 0) != 0;
    is_distinct = number("distinct", 0) != 0;
    read_pins(text("pins", ""));
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    long in_flight = number("in_flight", 1), held_count = number("held_count", 0);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, in_flight > 100 ? in_flight : 100);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (in_flight + held_count) * 8);
    lines = curl_slist_append(NULL, "User-Agent: NetworkStack/0.1");
    lines = curl_slist_append(lines, "Accept-Encoding: gzip, deflate, br, zstd");
    lines = curl_slist_append(lines, "Expect:");
    if (is_distinct) {
        lines = curl_slist_append(lines, "Accept: application/json");
        lines = curl_slist_append(lines, "Authorization: Bearer 0123456789abcdef0123456789abcdef");
    }
    for (long i = 0; i < number("interceptors", 0); i++) {
        char line[32];
        snprintf(line, sizeof line, "X-Benchmark-%ld: 1", i);
        lines = curl_slist_append(lines, line);
    }
    return true;
}

int floor_run(int argc, char **argv, floor_reader content_reader) {
    reader = content_reader;
    if (!prepare(argc, argv)) return 64;
    uses_epoll = strcmp(text("client", ""), "libcurl-c-epoll") == 0;
    if (uses_epoll) {
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
        curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    }
    long in_flight = number("in_flight", 1), held_count = number("held_count", 0);
    struct transfer *transfers = calloc((size_t)in_flight, sizeof *transfers);
    struct transfer *held = calloc((size_t)held_count + 1, sizeof *held);
    for (long i = 0; i < in_flight; i++) make(&transfers[i], false);

    long resident, resident_held, peak;
    phase(transfers, in_flight, number("warm_up_fetches", 0), number("warm_up_ms", 100));
    memory(&resident, &peak);
    if (held_count > 0) hold(held, held_count);
    memory(&resident_held, &peak);

    struct usage before = usage();
    uint64_t from = now_ns();
    phase(transfers, in_flight, number("fetches", 0), number("run_ms", 500));
    struct usage after = usage();
    double seconds = (double)(now_ns() - from) / 1e9;
    long resident_after;
    memory(&resident_after, &peak);
    printf("{\"fetches\":%ld,\"errors\":%ld,\"error\":\"%s\",\"seconds\":%.6f,\"cpu_seconds\":%.6f,"
           "\"voluntary_switches\":%ld,\"involuntary_switches\":%ld,\"rss_before\":%ld,\"rss_held\":%ld,"
           "\"rss_after\":%ld,\"rss_peak\":%ld,\"latencies\":{",
           tally.fetches, tally.errors, tally.error, seconds, after.cpu - before.cpu, after.voluntary - before.voluntary,
           after.involuntary - before.involuntary, resident, resident_held, resident_after, peak);
    bool is_first = true;
    for (size_t i = 0; i < 40 * 256; i++) {
        if (!tally.latencies[i]) continue;
        printf("%s\"%llu\":%u", is_first ? "" : ",", (unsigned long long)(i % 256) << (i / 256), tally.latencies[i]);
        is_first = false;
    }
    printf("}}\n");
    return 0;
}
