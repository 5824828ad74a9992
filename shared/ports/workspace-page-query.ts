import type { Mode } from '#shared/domain/enumerations.ts'

/** A page of a workspace's records in one mode, newest first. */
export interface ProductQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly limit: number
  /** Only records older than this id. */
  readonly beforeId: string | null
}
