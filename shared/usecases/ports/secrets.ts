/** Authenticated encryption under the installation's master key. */
export interface SecretBox {
  /** Seals text; `context` is bound to the envelope and must be given again to open it. */
  seal(plain: string, context: string): string
  /** Throws when the envelope was changed or belongs to another context or key. */
  open(sealed: string, context: string): string
}

/** Keyed digest of API keys under the installation's pepper: hex HMAC-SHA256. */
export interface KeyHasher {
  hash(apiKey: string): string
}
