import type { ExceptionKind, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { ExceptionRecord } from './exceptions.ts'

/** What a person may decide: the money counts here; it counts on another invoice; it stays uncounted; nothing is left to do. */
export const RESOLUTIONS = ['accepted', 'attached', 'rejected', 'closed'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Somebody's decision about an entry of the inbox. */
export interface Decision {
  readonly opId: string
  /** `user:<e-mail>`. */
  readonly by: string
  readonly at: Ms
  readonly resolution: Resolution
  readonly reason: string | null
}

/** What somebody wrote beside an entry. */
export interface ExceptionNote {
  readonly opId: string
  readonly by: string
  readonly at: Ms
  readonly text: string
}

/** An entry of the inbox with what people did about it. */
export interface DeskEntry extends ExceptionRecord {
  /** Being carried out now, or its process died; whoever comes a minute later may decide anew. */
  readonly deciding: Decision | null
  /** The last decision; the entry may have opened again since. */
  readonly resolved: Decision | null
  /** Oldest first, at most 50. */
  readonly notes: readonly ExceptionNote[]
}

/** A page of the inbox of one workspace. */
export interface DeskQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly open: boolean
  readonly kinds: readonly ExceptionKind[]
  readonly limit: number
  /** Only entries behind this one: oldest first while open, newest first of those that are closed. */
  readonly after: { readonly at: Ms; readonly id: string } | null
}

/** Open entries of one workspace by kind, for its daily mail. */
export interface OpenSummary {
  readonly workspaceId: string
  readonly kind: ExceptionKind
  readonly count: number
  readonly oldestAt: Ms
}

/** The operators' side of the inbox. Entries of a workspace without a mode of their own belong to both modes. */
export interface ExceptionDesk {
  find(workspaceId: string, mode: Mode, id: string): Promise<DeskEntry | null>
  list(query: DeskQuery): Promise<readonly DeskEntry[]>
  /** Open entries by kind, each counted up to `max`. */
  countOpen(workspaceId: string, mode: Mode, max: number): Promise<ReadonlyMap<ExceptionKind, number>>
  /** Open entries of every workspace that were opened before a time. */
  summariseOpen(openedBefore: Ms): Promise<readonly OpenSummary[]>
  /** The open entry about a transfer, if any. */
  findOpenByPayment(workspaceId: string, paymentKey: string): Promise<DeskEntry | null>
  /** Takes an open entry for one decision: false while another one that began after `staleBefore` is carried out, or when it is closed. */
  claim(id: string, decision: Decision, staleBefore: Ms): Promise<boolean>
  /** Ends a claim whose decision was refused. */
  release(id: string, opId: string): Promise<void>
  /** Closes the entry under its claim, together with the audit row; false when the claim is another's by now. */
  resolve(id: string, decision: Decision, audit: AuditRecord): Promise<boolean>
  /** Adds a note together with its audit row; false when the operation added it before, or there are too many. */
  addNote(id: string, note: ExceptionNote, audit: AuditRecord): Promise<boolean>
}
