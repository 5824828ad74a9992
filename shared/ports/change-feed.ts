import type { Mode } from '#shared/domain/enumerations.ts'

/** Kinds of changes that operators' pages follow. */
export const CHANGE_KINDS = ['invoice', 'payment', 'exception', 'delivery', 'endpoint'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** A change in the store. It names what to read again, never the new content. */
export interface StoreChange {
  readonly kind: ChangeKind
  readonly id: string
  readonly workspaceId: string
  /** Null: it belongs to both modes. */
  readonly mode: Mode | null
  readonly isNew: boolean
}

/** Receiver of changes. Neither function may throw. */
export interface ChangeListener {
  /** In the order of the store; several changes of one object within a moment are reported once. */
  changes(batch: readonly StoreChange[]): void
  /** Changes may have been missed, or were too many to list: read everything again. */
  gap(): void
}
