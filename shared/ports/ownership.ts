import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Noted } from './audit.ts'

/** A text that a workspace may have signed once, to prove that it controls what the text names. */
export interface OwnershipChallenge {
  /** 32 hex digits; names the challenge. */
  readonly nonce: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly family: Family
  /** SHA-256 over use and addresses, hex: a proof of anything else is refused. */
  readonly subjectHash: string
  readonly text: string
  /** The operation that asked for it. */
  readonly opId: string
  readonly createdAt: Ms
  readonly expiresAt: Ms
}

/** An address that a proof covers, with the use that the prover makes of it. */
export interface ProvedRow {
  readonly matchKey: string
  readonly address: string
  /** `materialId` and `index` of the address's row from then on. */
  readonly materialId: string
  readonly index: number
}

/** A checked proof as it is stored, in one transaction with what it allows. */
export interface ProofWrite {
  readonly nonce: string
  readonly subjectHash: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly family: Family
  /** Material of the prover's wallet. */
  readonly materialId: string
  /** True when the whole key is proved and not its addresses one by one. */
  readonly isKey: boolean
  /** Listed addresses; of a key the first ones that it derives, which it takes over from other uses. */
  readonly rows: readonly ProvedRow[]
  readonly provedAt: Ms
  /** As `findDisplaced` gave it; when it differs at the time of the write, nothing is stored. */
  readonly displaced: readonly DisplacedUse[]
}

/** What another workspace loses by a proof. */
export interface DisplacedUse {
  readonly workspaceId: string
  /** The whole extended key, and not single addresses. */
  readonly isKey: boolean
  readonly count: number
  /** At most three. */
  readonly addresses: readonly string[]
}

export interface OwnershipRepository {
  /** The name of this installation in challenges: `fresh` when it had none. */
  installationId(fresh: string): Promise<string>
  /** Stores a challenge with its audit row; the same operation again gives the first one back. */
  openChallenge(challenge: OwnershipChallenge, noted: Noted): Promise<OwnershipChallenge>
  findChallenge(nonce: string): Promise<OwnershipChallenge | null>
  /** Who would lose what by this proof, in the order of their ids. */
  findDisplaced(proof: Omit<ProofWrite, 'displaced'>): Promise<readonly DisplacedUse[]>
  /** How many addresses of a material are proved by the workspace; for a key 1 or 0. */
  countProved(workspaceId: string, materialId: string): Promise<number>
}
