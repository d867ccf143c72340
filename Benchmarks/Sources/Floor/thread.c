// The floor on a thread of its own: what waits elsewhere posts a fetch and is told its end, and there is nothing else. No
// queue, no limit, no clock, no cancel, no check; one thread wakes the other, and that is the least a wrapper of libcurl does.
#define _GNU_SOURCE
#include "transfer.h"
#include "floor.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MOST_SOCKETS = 65536, MOST_EVENTS = 256 };

static floor_ended on_ended;
static floor_turned on_turned;
static int epoll_fd = -1, wake_fd = -1;
static long timeout_ms = -1;

// What is posted, under the lock; as many as are in flight at most.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void **posted, **taken;
static size_t posted_count;
static bool waits;

// A registration outlasts the request, as the curl stack's do: libcurl takes a watch away after each response and asks for
// the same one again. A socket that is closed takes its registration with it, and one of the same number brings none, which
// the kernel tells.
static unsigned char watched[MOST_SOCKETS];

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy, (void)context, (void)known;
    if (what == CURL_POLL_REMOVE || socket >= MOST_SOCKETS || watched[socket] == what) return 0;
    struct epoll_event event = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0),
                                .data.fd = socket};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, socket, &event) != 0) epoll_ctl(epoll_fd, EPOLL_CTL_ADD, socket, &event);
    watched[socket] = (unsigned char)what;
    return 0;
}

static int on_close(void *context, curl_socket_t socket) {
    (void)context;
    if (socket < MOST_SOCKETS) watched[socket] = 0;
    return close(socket);
}

// Transfers that nobody uses.
struct seat {
    struct transfer transfer; // first, so that a handle's transfer is its seat
    void *waiter;
    struct seat *next;
};
static struct seat *free_seats;

void floor_fetch(void *waiter) {
    pthread_mutex_lock(&lock);
    posted[posted_count++] = waiter;
    bool wakes = waits;
    waits = false;
    pthread_mutex_unlock(&lock);
    if (wakes) eventfd_write(wake_fd, 1);
}

static void take_posted(void) {
    pthread_mutex_lock(&lock);
    void **waiters = posted;
    size_t count = posted_count;
    posted = taken;
    taken = waiters;
    posted_count = 0;
    waits = false;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < count; i++) {
        struct seat *seat = free_seats;
        if (seat) {
            free_seats = seat->next;
        } else {
            seat = calloc(1, sizeof *seat);
            make(&seat->transfer, false);
            curl_easy_setopt(seat->transfer.easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
        }
        seat->waiter = waiters[i];
        ask(&seat->transfer);
    }
}

static void finish_ended(void) {
    CURLMsg *message;
    int left, ended = 0;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        struct seat *seat;
        CURLcode code = message->data.result;
        long status = 0;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&seat);
        struct transfer *t = &seat->transfer;
        curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(multi, t->easy);
        char *content = t->body;
        t->body = NULL;
        t->body_capacity = 0;
        seat->next = free_seats;
        free_seats = seat;
        on_ended(seat->waiter, content, t->body_length, code == CURLE_OK && status >= 200 && status < 300);
        ended++;
    }
    if (ended > 0) on_turned();
}

static int on_timer(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    timeout_ms = milliseconds;
    return 0;
}

static void *run(void *context) {
    (void)context;
    for (int running;;) {
        take_posted();
        if (timeout_ms == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        finish_ended();
        pthread_mutex_lock(&lock);
        waits = posted_count == 0;
        int wait = !waits ? 0 : timeout_ms < 0 || timeout_ms > 1000 ? 1000 : (int)timeout_ms;
        pthread_mutex_unlock(&lock);
        struct epoll_event events[MOST_EVENTS];
        int count = epoll_wait(epoll_fd, events, MOST_EVENTS, wait);
        if (count == 0 && wait > 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == wake_fd) continue;
            int mask = (events[i].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
                       (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                       (events[i].events & EPOLLERR ? CURL_CSELECT_ERR : 0);
            curl_multi_socket_action(multi, events[i].data.fd, mask, &running);
        }
        finish_ended();
    }
    return NULL;
}

bool floor_start(int argc, char **argv, floor_ended ended, floor_turned turned) {
    if (!prepare(argc, argv)) return false;
    on_ended = ended;
    on_turned = turned;
    size_t most = (size_t)number("in_flight", 1);
    posted = calloc(most, sizeof *posted);
    taken = calloc(most, sizeof *taken);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event wake = {.events = EPOLLIN | EPOLLET, .data.fd = wake_fd};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &wake);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    pthread_t thread;
    return pthread_create(&thread, NULL, run, NULL) == 0;
}
