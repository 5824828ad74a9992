/** Options of a benchmark. */
export interface BenchOptions {
  /** Length of one measurement. */
  readonly seconds: number
  /** Measurements per side and number of connections; their median is used. */
  readonly rounds: number
  /** The invoices have an asset fixed at creation. */
  readonly asset: boolean
  /** Folder for CPU profiles of the product's processes; null for none, because profiling costs time. */
  readonly profileDir: string | null
  /** The only part of a benchmark to run; null for all. */
  readonly only: string | null
  /** Folder of another checkout whose rounds alternate with these; null or absent for none. */
  readonly against?: string | null
  /** Everything of the product in one process (`paymesh serve`); absent: one process per line of the Procfile. */
  readonly isServe?: boolean
  /** For `deliveries`: the bare path is measured in the same rounds. */
  readonly hasFloor?: boolean
  /** For `growth` and `backup`: invoices in the seeded database; for `watches`: old addresses. */
  readonly invoices: number
  readonly print: (line: string) => void
}
