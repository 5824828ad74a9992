/** A finished HTTP response as it was, or would be, sent: a replay must repeat it byte for byte. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** True for the repetition of an earlier response. */
  readonly replayed: boolean
}
