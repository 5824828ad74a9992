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
  /** Name of the key of `mac`. */
  readonly keyId: string
  /** HMAC over number and `hash` under that key, lower-case hex: it authenticates this row and every one before it. */
  readonly mac: string
}

/** The end of the chain as signed by its writer, stored apart from the rows: it reveals rows that were cut off. */
export interface AuditHead {
  readonly seq: number
  readonly hash: string
  readonly keyId: string
  readonly mac: string
}

/** The signed end as it is stored. */
export interface StoredHead extends AuditHead {
  /** The stored text; a step replaces this one and no other. */
  readonly text: string
}

/** A text that this installation signed. Readers check the signature first. */
export interface SignedText {
  readonly text: string
  readonly keyId: string
  /** HMAC of the text under that key. */
  readonly mac: string
}

/** The signed record of breaks as it is stored. */
export interface StoredBreaks extends SignedText {
  /** The stored value; a change replaces this one and no other. */
  readonly value: string
}

/** A change of the record of breaks: `was` is the value that it replaces, null for none. */
export interface BreaksChange {
  readonly was: string | null
  readonly next: SignedText
}

/** One step of the chain's writer: stored as a whole or not at all. */
export interface AuditStep {
  /** Text of the signed end that this step replaces; null when there is none. */
  readonly was: string | null
  /** The record of breaks changes with the step. */
  readonly breaks?: BreaksChange
  /** A row by the writer itself that is stored with its position; one of `links` belongs to it. */
  readonly checkpoint: AuditRecord | null
  readonly links: readonly (AuditLink & { readonly id: string })[]
  readonly head: AuditHead
}

/** A chained row. The stored data may have been tampered with, so all fields are checked. */
export interface ChainedAudit extends AuditLink {
  readonly record: AuditRecord
}

/** The range of numbers of chained rows. */
export interface AuditExtent {
  readonly last: number
  /** A row has a number field that is not a number. */
  readonly hasOthers: boolean
}

/** Rows that are not chained, each counted up to 10,000; waiting ones will be. */
export interface UnchainedAudits {
  readonly waiting: number
  readonly oldestWaitingAt: Ms | null
  /** Neither chained nor waiting: Paymesh writes no such row. */
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
  /** A row that is not chained yet; null when it is, or when there is none. */
  findWaiting(id: string): Promise<AuditRecord | null>
  /** The signed end; null before the first one, or when it was removed. */
  head(): Promise<StoredHead | null>
  /** Chains rows and moves the head, all or none: false when a number is taken, a row is already chained or gone, or the end is not `was`. */
  append(step: AuditStep): Promise<boolean>
  /** The record of breaks; null before the first one, or when it was removed. */
  breaks(): Promise<StoredBreaks | null>
  /** Replaces the record of breaks; false when it is not `was` any more. */
  saveBreaks(change: BreaksChange): Promise<boolean>
  /** Chained rows after `after`, in the order of their numbers; another row with the same number comes first, if there is one. */
  listChained(
    after: { readonly seq: number; readonly id: string } | null,
    limit: number,
  ): Promise<readonly ChainedAudit[]>
  /** Numbers of chained rows. Reads two entries of the index. */
  extent(): Promise<AuditExtent>
  /** Rows that are not chained, by their own index. */
  unchained(): Promise<UnchainedAudits>
  /** The value last stored by `saveVerified`; null before, and when the stored value has another form. */
  verified(): Promise<SignedText | null>
  /** Stores how far the log was verified. */
  saveVerified(progress: SignedText): Promise<void>
}
