/** One command on its way to the store. */
export interface StoreOperation {
  readonly kind: 'read' | 'write'
  /** Empty for commands of no collection: `hello`, `ping`, `commitTransaction`. */
  readonly collection: string
  /** The driver's method. */
  readonly name: string
  /** How many single-document steps it has; null when only the store can tell (`updateMany`, `deleteMany`). */
  readonly steps: number | null
  /** No primary that was replaced can answer it: it is linearizable, or of a transaction. */
  readonly isNewest?: boolean
}

/**
 * Decides when and whether a command reaches the store. `run` applies it at once and throws what the server would answer;
 * `run(k)` applies only its first k steps, for a server that dies in the middle of a batch (its answer is then worth nothing).
 * May reject before `run` (nothing happened), after it (answer lost), or never settle (the process died).
 *
 * What it rejects with is what the driver gives up with, after its own single retry; the store itself repeats nothing but the
 * transactions of `withTransaction`, which it does for `MongoNetworkError` and write conflicts.
 */
export type Execute = <T>(operation: StoreOperation, run: (upTo?: number) => T) => Promise<T>
