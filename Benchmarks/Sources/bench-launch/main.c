// bench-launch CORE PROGRAM [ARGUMENT...]: runs a program on one core and prints, as the last line of standard error, what
// the kernel says it cost. A program this small does not hide the other's peak memory behind its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: bench-launch CORE PROGRAM [ARGUMENT...]\n"), 64;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(atoi(argv[1]), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
    double from = now();
    pid_t child = vfork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) return 71;
    double wall = now() - from;
    fprintf(stderr, "\n{\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"rss_peak\":%ld,\"voluntary_switches\":%ld,"
                    "\"involuntary_switches\":%ld,\"status\":%d}\n",
            wall, usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6 + usage.ru_stime.tv_sec + usage.ru_stime.tv_usec / 1e6,
            usage.ru_maxrss * 1024, usage.ru_nvcsw, usage.ru_nivcsw, WIFEXITED(status) ? WEXITSTATUS(status) : 128);
    return 0;
}
