// The door to libcurl: typed names for its variadic calls, one per kind of value, and for what C spells as macros.
// No logic. Everything else is called as libcurl names it.
#ifndef NETWORKSTACK_CCURL_SHIM_H
#define NETWORKSTACK_CCURL_SHIM_H

#include <curl/curl.h>

#ifdef __linux__
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif

// Options of an easy handle.

static inline CURLcode shim_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_easy_set_blob(CURL *easy, CURLoption option, struct curl_blob *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_easy_set_header_function(CURL *easy, curl_write_callback function) {
    return curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, function);
}

static inline CURLcode shim_easy_set_write_function(CURL *easy, curl_write_callback function) {
    return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
}

static inline CURLcode shim_easy_set_read_function(CURL *easy, curl_read_callback function) {
    return curl_easy_setopt(easy, CURLOPT_READFUNCTION, function);
}

static inline CURLcode shim_easy_set_seek_function(CURL *easy, curl_seek_callback function) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode shim_easy_set_trailer_function(CURL *easy, curl_trailer_callback function) {
    return curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, function);
}

static inline CURLcode shim_easy_set_prereq_function(CURL *easy, curl_prereq_callback function) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode shim_easy_set_resolver_start_function(CURL *easy, curl_resolver_start_callback function) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, function);
}

static inline CURLcode shim_easy_set_socket_option_function(CURL *easy, curl_sockopt_callback function) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, function);
}

static inline CURLcode shim_easy_set_close_socket_function(CURL *easy, curl_closesocket_callback function) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}

static inline CURLcode shim_easy_set_progress_function(CURL *easy, curl_xferinfo_callback function) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}

static inline CURLcode shim_easy_set_debug_function(CURL *easy, curl_debug_callback function) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
}

static inline CURLcode shim_easy_set_tls_context_function(CURL *easy, curl_ssl_ctx_callback function) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, function);
}

// Facts about an easy handle.

static inline CURLcode shim_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode shim_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode shim_easy_get_string(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode shim_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

// Options of a multi handle.

static inline CURLMcode shim_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode shim_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode shim_multi_set_socket_function(CURLM *multi, curl_socket_callback function) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
}

static inline CURLMcode shim_multi_set_timer_function(CURLM *multi, curl_multi_timer_callback function) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
}

// The result of a finished transfer; the union is not seen from Swift.
static inline CURLcode shim_message_result(const CURLMsg *message) { return message->data.result; }

// Macros whose casts hide their values from Swift.

static const long shim_http_version_automatic = CURL_HTTP_VERSION_2TLS;
static const long shim_http_version_1_1 = CURL_HTTP_VERSION_1_1;
static const long shim_http_version_2_prior_knowledge = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
static const long shim_auth_digest = CURLAUTH_DIGEST;
static const long shim_auth_only = (long)CURLAUTH_ONLY;
static const size_t shim_write_pause = CURL_WRITEFUNC_PAUSE;
static const size_t shim_read_pause = CURL_READFUNC_PAUSE;
static const size_t shim_read_abort = CURL_READFUNC_ABORT;
static const long shim_resolve_ipv4 = CURL_IPRESOLVE_V4;
static const long shim_resolve_ipv6 = CURL_IPRESOLVE_V6;
static const long shim_multiplex = CURLPIPE_MULTIPLEX;
static const long shim_global_init = CURL_GLOBAL_DEFAULT;
static const long shim_tls_1_2 = CURL_SSLVERSION_TLSv1_2;
static const long shim_tls_1_3 = CURL_SSLVERSION_TLSv1_3;
static const long shim_max_tls_1_2 = CURL_SSLVERSION_MAX_TLSv1_2;
static const long shim_max_tls_1_3 = CURL_SSLVERSION_MAX_TLSv1_3;
static const CURLversion shim_version_now = CURLVERSION_NOW;

// Where a thread finds the lists of what libcurl has freed on it, without a call. Each source file that asks has another place:
// one alone does.
static inline void **shim_free_lists(void) {
    static _Thread_local void *lists;
    return &lists;
}

// The decoders that libcurl itself is linked with, as their libraries declare them; they are looked up when first used.

typedef struct shim_zlib_stream {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} shim_zlib_stream;

typedef struct shim_zstd_in {
    const void *src;
    size_t size;
    size_t pos;
} shim_zstd_in;

typedef struct shim_zstd_out {
    void *dst;
    size_t size;
    size_t pos;
} shim_zstd_out;

#endif
