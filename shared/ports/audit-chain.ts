import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

/** A row's position in the chain, which makes later changes of the log detectable. */
export interface AuditLink {
  /** 1 for the first row, without gaps. */
  readonly seq: number
  /** Hash of the row before; 64 zeros for the first one. */
  readonly prevHash: string
  /** SHA-256 over number, `prevHash` and content of the row, lower-case hex. */
  readonly hash: string
  /** Name of the key of `mac`; absent on rows chained by a version without keys. */
  readonly keyId?: string
  /** HMAC over number and `hash` under that key, lower-case hex: it authenticates this row and every one before it. */
  readonly mac?: string
}

/** The end of the chain as signed by its writer, stored apart from the rows: it reveals rows that were cut off. */
export interface AuditHead {
  readonly seq: number
  readonly hash: string
  readonly keyId: string
  readonly mac: string
}

/** One step of the chain's writer: stored as a whole or not at all. */
export interface AuditStep {
  /** A row by the writer itself that is stored with its position; one of `links` belongs to it. */
  readonly checkpoint: AuditRecord | null
  readonly links: readonly (AuditLink & { readonly id: string })[]
  readonly head: AuditHead
}

/** A chained row. The stored data may have been tampered with, so all fields are checked. */
export interface ChainedAudit extends AuditLink {
  readonly record: AuditRecord
}

/** How far the audit log was verified, as written by its verifier. Readers check the signature first. */
export interface SignedProgress {
  readonly text: string
  readonly keyId: string
  /** HMAC of the text under that key. */
  readonly mac: string
}

/** The range of numbers of chained rows. */
export interface AuditExtent {
  readonly last: number
  /** A row has a number field that is not a number. */
  readonly hasOthers: boolean
}

/** Rows that are not chained; waiting ones will be. */
export interface UnchainedAudits {
  readonly waiting: number
  readonly oldestWaitingAt: Ms | null
  /** Neither chained nor waiting: left by a version without a chain, or tampered with. */
  readonly outside: number
}

/** The audit log as a chain. Rows are written unchained, and one writer at a time chains them later. */
export interface AuditChainRepository {
  /** The last link; null before the first. */
  tail(): Promise<AuditLink | null>
  /** Whether a row is not chained yet. */
  isAnyWaiting(): Promise<boolean>
  /** Rows not chained yet, oldest first. */
  waiting(limit: number): Promise<readonly AuditRecord[]>
  /** Marks rows left by a version without a chain as waiting, once in the life of an installation; returns how many there were. */
  adopt(): Promise<number>
  /** The signed end; null before the first one, or when it was removed. */
  head(): Promise<AuditHead | null>
  /** Whether any row carries a key. Reads every row when none does. */
  hasKeyed(): Promise<boolean>
  /** Chains rows and moves the head, all or none: false when a number is taken, or a row is already chained or gone. */
  append(step: AuditStep): Promise<boolean>
  /** Chained rows after `after`, in the order of their numbers; another row with the same number comes first, if there is one. */
  listChained(
    after: { readonly seq: number; readonly id: string } | null,
    limit: number,
  ): Promise<readonly ChainedAudit[]>
  /** Numbers of chained rows. Reads two entries of the index. */
  extent(): Promise<AuditExtent>
  /** Rows that are not chained. Reads every row of the log. */
  unchained(): Promise<UnchainedAudits>
  /** Rows not chained yet, counted up to 10,000. */
  countWaiting(): Promise<number>
  /** The value last stored by `saveVerified`; null before, and when the stored value has another form. */
  verified(): Promise<SignedProgress | null>
  /** Stores how far the log was verified. */
  saveVerified(progress: SignedProgress): Promise<void>
}
