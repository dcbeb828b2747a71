#include "io/hash.h"

#include <openssl/evp.h>

#include "base/error.h"

namespace ridge::io {

Hasher::Hasher(HashKind kind) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  const EVP_MD* algorithm = kind == HashKind::sha1 ? EVP_sha1() : EVP_sha256();
  if (!context_ || EVP_DigestInit_ex(context_.get(), algorithm, nullptr) != 1)
    fail_machine("OpenSSL has no {} here", kind == HashKind::sha1 ? "SHA-1" : "SHA-256");
}

void Hasher::add(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) fail_machine("OpenSSL cannot hash");
}

std::string Hasher::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(context_.get(), digest, &size) != 1) fail_machine("OpenSSL cannot hash");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace ridge::io
