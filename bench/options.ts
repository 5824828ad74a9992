/** What a benchmark is told. */
export interface BenchOptions {
  /** Length of one measurement. */
  readonly seconds: number
  /** Measurements per side and number of connections; their median counts. */
  readonly rounds: number
  /** The invoices are locked to an asset at creation. */
  readonly asset: boolean
  /** Folder for CPU profiles of the product's processes; null for none, because profiling costs time. */
  readonly profileDir: string | null
  /** The one part of a benchmark that is wanted; null for all. */
  readonly only: string | null
  /** A Redis of the benchmark's own, in place of a given one. */
  readonly redisUrl?: string
  readonly print: (line: string) => void
}
