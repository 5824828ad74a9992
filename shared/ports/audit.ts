import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { MailRecord } from './mails.ts'

/** Something a person did to the installation or to a merchant's data. Written once, never changed. */
export interface AuditRecord {
  /** Deterministic where the deed can be repeated, so that it is noted once. */
  readonly id: string
  readonly at: Ms
  /** Who: `cli:<operating-system user>`. */
  readonly actor: string
  /** What: `chain.rescan`, `invoice.funds_accepted`, … */
  readonly action: string
  /** To what: a resource's id, or `<mode>:<network>` for a chain. */
  readonly subject: string
  readonly workspaceId: string | null
  readonly mode: Mode | null
  /** Parameters and outcome, by name. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

/** The audit trail. Deeds on documents without an outbox write their row in the same transaction as the deed. */
export interface AuditRepository {
  /** Adds what is missing. */
  insertMany(records: readonly AuditRecord[]): Promise<void>
  /** Rows about one subject, oldest first. */
  listBySubject(subject: string): Promise<readonly AuditRecord[]>
}

/** Which rows to look for. Every field narrows. */
export interface AuditFilter {
  /** Null = of the whole installation. */
  readonly workspaceId: string | null
  readonly subject?: string | undefined
  readonly actor?: string | undefined
  readonly from?: Ms | undefined
  /** Not included. */
  readonly until?: Ms | undefined
}

/** Reading the audit trail, newest first. */
export interface AuditSearch {
  /** Rows behind `after`; at most `limit`. `seq` is null while a row waits for its place in the chain. */
  search(
    filter: AuditFilter,
    after: { readonly at: Ms; readonly id: string } | null,
    limit: number,
  ): Promise<readonly (AuditRecord & { readonly seq: number | null })[]>
}

/** A row's place in the chain that makes later changes of the trail show. */
export interface AuditLink {
  /** 1 for the first row, without gaps. */
  readonly seq: number
  /** Hash of the row before; 64 zeros for the first one. */
  readonly prevHash: string
  /** SHA-256 over number, `prevHash` and content of the row, lower-case hex. */
  readonly hash: string
  /** Name of the key of `mac`; absent on rows that a version without keys chained. */
  readonly keyId?: string
  /** HMAC over number and `hash` under that key, lower-case hex: it vouches for this row and for every one before it. */
  readonly mac?: string
}

/** The end of the chain as its writer signed it, kept apart from the rows: rows that were cut off are missed. */
export interface AuditHead {
  readonly seq: number
  readonly hash: string
  readonly keyId: string
  readonly mac: string
}

/** One step of the chain's writer: stored as a whole or not at all. */
export interface AuditStep {
  /** A row of the writer's own that is stored with its place; one of `links` is its. */
  readonly checkpoint: AuditRecord | null
  readonly links: readonly (AuditLink & { readonly id: string })[]
  readonly head: AuditHead
}

/** A row that has its place. What a store says may have been tampered with: nothing of it is taken for granted. */
export interface ChainedAudit extends AuditLink {
  readonly record: AuditRecord
}

/** Rows without a place, of which those that wait are to get one. */
export interface UnchainedAudits {
  readonly waiting: number
  readonly oldestWaitingAt: Ms | null
  /** Neither chained nor waiting: left by a version without a chain, or tampered with. */
  readonly outside: number
}

/** The audit trail as a chain. Rows are written without a place, and get it afterwards by one writer at a time. */
export interface AuditChainRepository {
  /** The last link; null before the first. */
  tail(): Promise<AuditLink | null>
  /** Rows that wait for their place, oldest first. */
  waiting(limit: number): Promise<readonly AuditRecord[]>
  /** Lets rows wait that a version without a chain left; returns how many there were. */
  adopt(): Promise<number>
  /** The signed end; null before the first one, or when somebody took it away. */
  head(): Promise<AuditHead | null>
  /** Whether any row carries a key. Reads every row when none does. */
  hasKeyed(): Promise<boolean>
  /** Gives rows their places and moves the head, all or none: false when a number is taken, or a row has a place by now or is gone. */
  append(step: AuditStep): Promise<boolean>
  /** Chained rows behind `after`, in the order of their numbers; another row with its number comes first, where there is one. */
  listChained(
    after: { readonly seq: number; readonly id: string } | null,
    limit: number,
  ): Promise<readonly ChainedAudit[]>
  countChained(): Promise<number>
  unchained(): Promise<UnchainedAudits>
}

/** What is written together with a deed, or not at all. */
export interface Noted {
  readonly audit: AuditRecord
  readonly mails?: readonly MailRecord[]
}
