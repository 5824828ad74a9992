/** A finished HTTP answer as it was, or would be, sent: the replay of an operation must repeat it byte for byte. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** True for the repetition of an earlier answer. */
  readonly replayed: boolean
}
