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

/** Every sealed value of the store. */
export interface SealedSecretRepository {
  /** Collections that contain sealed values. */
  readonly collections: readonly string[]
  /** Approximate number of documents of a collection; for progress only. */
  size(collection: string): Promise<number>
  /** Documents after `after` in the order of their ids, majority-committed; including those without sealed values. */
  page(collection: string, after: string | null, limit: number): Promise<readonly SealedHolder[]>
  findOne(collection: string, id: string): Promise<SealedHolder | null>
  /** Replaces `from` by `to` everywhere or nowhere; false when any of them is not there any more. */
  replace(
    collection: string,
    id: string,
    changes: readonly { readonly path: string; readonly from: string; readonly to: string }[],
  ): Promise<boolean>
}
