import type { Decision, ExceptionNote } from '#shared/db/exceptions/exception-model.ts'
import type { ExceptionKind, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ExceptionRecord } from './exceptions.ts'

export type { Decision, ExceptionNote } from '#shared/db/exceptions/exception-model.ts'

/** Possible decisions: the money counts here; it counts on another invoice; it stays uncounted; nothing is left to do. */
export const RESOLUTIONS = ['accepted', 'attached', 'rejected', 'closed'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** An exception with its decisions and notes. */
export interface ExceptionEntry extends ExceptionRecord {
  /** In progress, or its process died; another decision is possible a minute later. */
  readonly deciding: Decision | null
  /** The last decision; the exception may have been reopened since. */
  readonly resolved: Decision | null
  /** Oldest first, at most 50. */
  readonly notes: readonly ExceptionNote[]
}

/** A page of one workspace's exceptions. */
export interface ExceptionQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly open: boolean
  readonly kinds: readonly ExceptionKind[]
  readonly limit: number
  /** Only exceptions after this one: oldest first while open, newest first if closed. */
  readonly after: { readonly at: Ms; readonly id: string } | null
}

/** Open exceptions of one workspace by kind and mode, for its daily mail. */
export interface OpenSummary {
  readonly kind: ExceptionKind
  /** Null = about the workspace as a whole. */
  readonly mode: Mode | null
  /** At most 10,000. */
  readonly count: number
  readonly oldestAt: Ms
}
