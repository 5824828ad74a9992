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
