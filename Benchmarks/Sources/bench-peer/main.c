// bench-peer: the server for what nginx has not. It prints its port and serves, on one thread:
//   GET /hold    a head and half of the content; the rest never comes
//   GET /held    how many such responses are open
//   GET /status  how many connections it has taken, in the place and form of nginx's stub_status
//   any /sink    reads the content and answers 200 with "ok"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

struct connection {
    char head[8192];
    size_t length;
    uint64_t content;
    bool is_held;
};

static struct connection **connections;
static long held, accepted;

static void drop(int fd) {
    if (connections[fd]->is_held) held--;
    free(connections[fd]);
    connections[fd] = NULL;
    close(fd);
}

static void say(int fd, const char *text) {
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0) return;
}

static void answer(int fd, struct connection *c) {
    char text[256];
    if (strstr(c->head, " /hold ")) {
        c->is_held = true;
        held++;
        say(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 64\r\n\r\n"
                "0123456789abcdef0123456789abcdef");
    } else if (strstr(c->head, " /held ") || strstr(c->head, " /status ")) {
        char count[32];
        int length = strstr(c->head, " /held ") ? snprintf(count, sizeof count, "%ld", held)
                                                : snprintf(count, sizeof count, "bench-peer\naccepted\n%ld", accepted);
        snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", length, count);
        say(fd, text);
        shutdown(fd, SHUT_WR);
    } else {
        say(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok");
    }
}

static void read_from(int fd) {
    static char buffer[256 * 1024];
    struct connection *c = connections[fd];
    for (;;) {
        if (c->content > 0) {
            ssize_t got = recv(fd, buffer, sizeof buffer < c->content ? sizeof buffer : c->content, 0);
            if (got == 0) return drop(fd);
            if (got < 0) break;
            c->content -= (uint64_t)got;
            if (c->content == 0) answer(fd, c);
            continue;
        }
        ssize_t got = recv(fd, c->head + c->length, sizeof c->head - 1 - c->length, MSG_PEEK);
        if (got == 0) return drop(fd);
        if (got < 0) break;
        c->head[c->length + (size_t)got] = 0;
        char *end = strstr(c->head, "\r\n\r\n");
        size_t taken = end ? (size_t)(end + 4 - c->head) - c->length : (size_t)got;
        recv(fd, buffer, taken, 0);
        c->length += taken;
        if (!end) {
            if (c->length >= sizeof c->head - 1) return drop(fd);
            continue;
        }
        c->head[c->length] = 0;
        char *length = strcasestr(c->head, "\r\ncontent-length:");
        c->content = length ? strtoull(length + 17, NULL, 10) : 0;
        if (strcasestr(c->head, "\r\nexpect:")) say(fd, "HTTP/1.1 100 Continue\r\n\r\n");
        if (strcasestr(c->head, "\r\ntransfer-encoding:")) return drop(fd);
        c->length = 0;
        if (c->content == 0) answer(fd, c);
    }
    if (errno != EAGAIN && errno != EINTR) drop(fd);
}

int main(void) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    connections = calloc(1 << 20, sizeof *connections);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 16384)) return perror("bench-peer"), 71;
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd != listener) {
                if (connections[fd]) read_from(fd);
                continue;
            }
            while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
                accepted++;
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                connections[fd] = calloc(1, sizeof **connections);
                event = (struct epoll_event){.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};
                epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
            }
        }
    }
}
