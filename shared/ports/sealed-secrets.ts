/** One envelope in a stored document. */
export interface StoredEnvelope {
  /** Its path in the document, with dots. */
  readonly path: string
  readonly sealed: string
  /** Its sealing context. */
  readonly context: string
}

/** A document with sealed values. */
export interface SealedHolder {
  readonly id: string
  readonly envelopes: readonly StoredEnvelope[]
}
