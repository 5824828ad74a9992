import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export type { OwnershipChallenge } from '#shared/db/wallets/ownership-models.ts'

/** An address that a proof covers, with the prover's kind of use. */
export interface ProvedRow {
  readonly matchKey: string
  readonly address: string
  /** `materialId` and `index` of the address's row after the proof. */
  readonly materialId: string
  readonly index: number
}

/** A checked proof as stored, in one transaction with the change that it allows. */
export interface ProofWrite {
  readonly nonce: string
  readonly subjectHash: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly family: Family
  /** Material of the prover's wallet. */
  readonly materialId: string
  /** True when the whole key is proved, and not its addresses one by one. */
  readonly isKey: boolean
  /** Listed addresses; for a key the first ones that it derives, which are taken over from other uses. */
  readonly rows: readonly ProvedRow[]
  readonly provedAt: Ms
  /** The result of `findDisplaced`; if it differs at the time of the write, nothing is stored. */
  readonly displaced: readonly DisplacedUse[]
}

/** Addresses that another workspace loses by a proof. */
export interface DisplacedUse {
  readonly workspaceId: string
  /** The whole extended key, and not single addresses. */
  readonly isKey: boolean
  readonly count: number
  /** At most three. */
  readonly addresses: readonly string[]
  /** Its wallets on them. */
  readonly walletIds: readonly string[]
}
