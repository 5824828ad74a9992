import type { Mode } from '#shared/domain/enumerations.ts'

/** What pages of operators follow. */
export const CHANGE_KINDS = ['invoice', 'payment', 'exception', 'delivery', 'endpoint'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** Something was written to the store. It says what to ask again, never what is there now. */
export interface StoreChange {
  readonly kind: ChangeKind
  readonly id: string
  readonly workspaceId: string
  /** Null: it belongs to both modes. */
  readonly mode: Mode | null
  readonly isNew: boolean
}

/** Who is told of changes. Neither function may throw. */
export interface ChangeListener {
  /** In the order of the store; several changes of one thing within a moment are told once. */
  changes(batch: readonly StoreChange[]): void
  /** Something may have been missed, or was too much to be named: ask everything again. */
  gap(): void
}

/** The changes of the whole store, as they happen. */
export interface ChangeFeed {
  /**
   * Begins to follow, and calls `gap` once it really does. While the store cannot be followed `gap` is called every few seconds, so
   * that a page asks instead. Resolves when nothing more will be told.
   */
  follow(listener: ChangeListener): { stop(): Promise<void> }
}
