// The door to OpenSSL: headers, and typed names for what C spells as macros. No logic.
#ifndef NETWORKSTACK_COPENSSL_SHIM_H
#define NETWORKSTACK_COPENSSL_SHIM_H

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// A list of certificates or of names is a type of its own that C reaches by macros.

static inline int networkstack_sk_X509_num(const struct stack_st_X509 *chain) { return sk_X509_num(chain); }

static inline X509 *networkstack_sk_X509_value(const struct stack_st_X509 *chain, int index) {
    return sk_X509_value(chain, index);
}

static inline int networkstack_sk_GENERAL_NAME_num(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

static inline GENERAL_NAME *networkstack_sk_GENERAL_NAME_value(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}

// A store beside the context's own, which libcurl fills and exchanges.

static inline long networkstack_SSL_CTX_set1_verify_cert_store(SSL_CTX *context, X509_STORE *store) {
    return SSL_CTX_set1_verify_cert_store(context, store);
}

static inline long networkstack_SSL_CTX_set1_chain_cert_store(SSL_CTX *context, X509_STORE *store) {
    return SSL_CTX_set1_chain_cert_store(context, store);
}

static inline int networkstack_SSL_get_negotiated_group(SSL *ssl) { return (int)SSL_get_negotiated_group(ssl); }

static inline int networkstack_ERR_reason(unsigned long code) { return ERR_GET_REASON(code); }

// For the test servers (NetworkStackTesting).

static inline void networkstack_OPENSSL_free(void *memory) { OPENSSL_free(memory); }

static inline int networkstack_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}

static inline long networkstack_SSL_set_mode(SSL *ssl, unsigned int mode) { return SSL_set_mode(ssl, (long)mode); }

#endif
