import { DATE, defineCollection, OWNED_FIELDS, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { OwnershipChallenge } from '#shared/ports/ownership.ts'

/** A stored challenge; it is removed when it is used or has expired. */
export type OwnershipChallengeDocument = Omit<OwnershipChallenge, 'nonce' | 'createdAt' | 'expiresAt'> & {
  _id: string
  createdAt: Date
  expiresAt: Date
}

/** Challenges that may still be used. */
export const OWNERSHIP_CHALLENGES = defineCollection<OwnershipChallengeDocument>(
  'ownership_challenges',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    family: TEXT,
    subjectHash: TEXT,
    text: TEXT,
    opId: TEXT,
    createdAt: DATE,
    expiresAt: DATE,
  },
  [
    { name: 'challenge_operation', key: { workspaceId: 1, opId: 1 }, unique: true },
    { name: 'challenge_expiry', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  ],
)

/** The newest proof of control of an address or an extended key. */
export interface OwnershipProofDocument {
  /** `address:<mode>:<family>:<matchKey>` or `key:<material>`. */
  _id: string
  workspaceId: string
  mode: Mode
  family: Family
  /** Material of the prover's wallet. */
  materialId: string
  provedAt: Date
  /** The nonce of the challenge used; the audit log contains it too. */
  nonce: string
}

/** Proofs of control: which workspace may be paid on what. */
export const OWNERSHIP_PROOFS = defineCollection<OwnershipProofDocument>(
  'ownership_proofs',
  { _id: TEXT, ...OWNED_FIELDS, family: TEXT, materialId: TEXT, provedAt: DATE, nonce: TEXT },
  [{ name: 'proof_material', key: { materialId: 1, workspaceId: 1 } }],
)
