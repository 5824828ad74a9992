import type { Decision, ExceptionNote } from '#shared/db/exceptions/exception-model.ts'
import type { ExceptionKind, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
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

/** The operators' side of exceptions. Those of a workspace without a mode belong to both modes. */
export interface ExceptionDecisions {
  find(workspaceId: string, mode: Mode, id: string): Promise<ExceptionEntry | null>
  list(query: ExceptionQuery): Promise<readonly ExceptionEntry[]>
  /** Open exceptions by kind, each counted up to `max`. */
  countOpen(workspaceId: string, mode: Mode, max: number): Promise<ReadonlyMap<ExceptionKind, number>>
  /** The workspaces with open exceptions, and the kinds of each, however many exceptions of a kind are open. */
  workspacesWithOpen(): Promise<ReadonlyMap<string, readonly ExceptionKind[]>>
  /** Open exceptions of these kinds of a workspace that were opened before a time; each kind and mode is counted apart, so that many of one hide no others. */
  summariseOpen(workspaceId: string, kinds: readonly ExceptionKind[], openedBefore: Ms): Promise<readonly OpenSummary[]>
  /** The open exception about a transfer, if any. */
  findOpenByPayment(workspaceId: string, paymentKey: string): Promise<ExceptionEntry | null>
  /** The last decision that rejected a transfer and stands; null when there is none, or its exception was reopened. */
  findRejection(workspaceId: string, paymentKey: string): Promise<Decision | null>
  /** Claims an open exception for one decision: false while another one that began after `staleBefore` is running, or when it is closed. */
  claim(id: string, decision: Decision, staleBefore: Ms): Promise<boolean>
  /** Ends a claim whose decision was refused. */
  release(id: string, opId: string): Promise<void>
  /** Closes the exception under its claim, together with the audit row; false when the claim is another's by now, and for a rejection of what closed meanwhile. */
  resolve(id: string, decision: Decision, audit: AuditRecord): Promise<boolean>
  /** Adds a note together with its audit row; false when the operation already added it, or there are too many. */
  addNote(id: string, note: ExceptionNote, audit: AuditRecord): Promise<boolean>
}
