import type { Mode } from '#shared/domain/enumerations.ts'

/** Whose statements. */
export interface GoLiveScope {
  readonly workspaceId: string
  readonly mode: Mode
}
