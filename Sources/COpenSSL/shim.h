// The door to OpenSSL: headers, and typed names for what C spells as macros. No logic.
#ifndef NETWORKSTACK_COPENSSL_SHIM_H
#define NETWORKSTACK_COPENSSL_SHIM_H

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#endif
