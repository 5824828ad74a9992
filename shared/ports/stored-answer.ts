/** A stored API response that may contain a customer: sealed for `scope`. */
export interface StoredAnswer {
  readonly scope: string
  readonly body: string
}
