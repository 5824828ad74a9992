/** The store's copy of the mark that tells one life of Redis from the next. */
export interface RedisEpochRepository {
  /** Null before the first. */
  read(): Promise<string | null>
  replace(to: string): Promise<void>
}
