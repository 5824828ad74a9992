/** One envelope in a stored document. */
export interface StoredEnvelope {
  /** Where it stands in the document, with dots. */
  readonly path: string
  readonly sealed: string
  /** What it is sealed for. */
  readonly context: string
}

/** A document with sealed values. */
export interface SealedHolder {
  readonly id: string
  readonly envelopes: readonly StoredEnvelope[]
}

/** Every sealed value of the store, wherever it lies. */
export interface SealedSecretRepository {
  /** Collections that hold sealed values. */
  readonly collections: readonly string[]
  /** About how many documents a collection has; for progress only. */
  size(collection: string): Promise<number>
  /** Documents behind `after` in the order of their ids, as the majority has them; those without sealed values are there too. */
  page(collection: string, after: string | null, limit: number): Promise<readonly SealedHolder[]>
  findOne(collection: string, id: string): Promise<SealedHolder | null>
  /** Puts `to` in the place of `from` everywhere or nowhere; false when any of them is not there any more. */
  replace(
    collection: string,
    id: string,
    changes: readonly { readonly path: string; readonly from: string; readonly to: string }[],
  ): Promise<boolean>
}
