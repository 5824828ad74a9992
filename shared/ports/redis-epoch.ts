/** The store's copy of the marker that identifies the current Redis data set. */
export interface RedisEpochRepository {
  /** Null before the first. */
  read(): Promise<string | null>
  replace(to: string): Promise<void>
}
