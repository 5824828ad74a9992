import type { Mode } from '#shared/domain/enumerations.ts'

/** Consecutive failures to bring one invoice up to date. */
export interface AdvanceFailure {
  /** Including this one. */
  readonly failures: number
  /** The invoice's workspace and mode; null when unknown. */
  readonly owner: { readonly workspaceId: string; readonly mode: Mode } | null
}
