// The door to OpenSSL: headers, and typed names for what C spells as macros. No logic.
#ifndef NETWORKSTACK_COPENSSL_SHIM_H
#define NETWORKSTACK_COPENSSL_SHIM_H

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// For the test servers (NetworkStackTesting).

static inline void networkstack_OPENSSL_free(void *memory) { OPENSSL_free(memory); }

static inline int networkstack_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}

static inline long networkstack_SSL_set_mode(SSL *ssl, unsigned int mode) { return SSL_set_mode(ssl, (long)mode); }

static inline int networkstack_ERR_reason(unsigned long code) { return ERR_GET_REASON(code); }

#endif
