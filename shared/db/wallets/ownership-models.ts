import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { OWNED_FIELDS, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import type { Family } from '#shared/domain/enumerations.ts'

/** Challenges that may still be used. */
export const OWNERSHIP_CHALLENGES = defineCollection(
  'ownership_challenges',
  {
    /** The nonce: 32 hex digits. */
    _id: z.string(),
    ...OWNED_FIELDS,
    family: textAs<Family>(),
    /** SHA-256 over kind of use and addresses, hex: a proof of anything else is refused. */
    subjectHash: z.string(),
    text: z.string(),
    /** The operation that requested it. */
    opId: z.string(),
    createdAt: TIME,
    expiresAt: TIME,
  },
  [
    { name: 'challenge_operation', key: { workspaceId: 1, opId: 1 }, unique: true },
    { name: 'challenge_expiry', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  ],
)

/** A stored challenge; it is removed when it is used or has expired. */
export type OwnershipChallengeDocument = StoredOf<typeof OWNERSHIP_CHALLENGES>

/** A text that a workspace may have signed once, to prove control of the addresses it names. Its nonce identifies it. */
export type OwnershipChallenge = Omit<RecordOf<typeof OWNERSHIP_CHALLENGES>, 'id'> & { readonly nonce: string }

/** Proofs of control: which workspace may be paid on what. */
export const OWNERSHIP_PROOFS = defineCollection(
  'ownership_proofs',
  {
    /** `address:<mode>:<family>:<matchKey>` or `key:<material>`. */
    _id: z.string(),
    ...OWNED_FIELDS,
    family: textAs<Family>(),
    /** Material of the prover's wallet. */
    materialId: z.string(),
    provedAt: TIME,
    /** The nonce of the challenge used; the audit log contains it too. */
    nonce: z.string(),
  },
  [{ name: 'proof_material', key: { materialId: 1, workspaceId: 1 } }],
)
