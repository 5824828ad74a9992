import type mongoose from 'mongoose'
import { insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toMs } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { addressSubject, keySubject, type OwnershipProof } from '#shared/domain/ownership/ownership.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { DisplacedUse, OwnershipChallenge, ProofWrite } from '#shared/ports/ownership.ts'
import { OWNERSHIP_CHALLENGES, OWNERSHIP_PROOFS, type OwnershipChallengeDocument } from './ownership-models.ts'
import { ADDRESSES, WALLETS } from './wallet-models.ts'

/** Name of the installation's own id among its facts. */
const INSTALLATION_ID = 'id'
/** Addresses that a mail shows. */
const SHOWN = 3

type Session = mongoose.mongo.ClientSession

/** Challenges and proofs of control on MongoDB; `storeProof` writes the proofs. */
export function createOwnershipRepository(db: Database) {
  const challenges = db.collection(OWNERSHIP_CHALLENGES)
  const proofs = db.collection(OWNERSHIP_PROOFS)
  return {
    /** The id of this installation in challenges: `fresh` when it had none. */
    installationId: async (fresh: string): Promise<string> => {
      const facts = db.collection(INSTALLATION)
      const change = { $setOnInsert: { value: fresh, changedAt: new Date() } }
      const stored = await facts.findOneAndUpdate({ _id: INSTALLATION_ID }, change, {
        upsert: true,
        returnDocument: 'after',
      })
      return stored?.value ?? fresh
    },
    /** Stores a challenge with its audit row; repeating the operation returns the first one. */
    openChallenge: async (challenge: OwnershipChallenge, auditWrite: AuditWrite): Promise<OwnershipChallenge> => {
      const { workspaceId, opId } = challenge
      const known = await challenges.findOne({ workspaceId, opId })
      if (known !== null) return challengeFromDocument(known)
      const fresh = challengeToDocument(challenge)
      // After a concurrent run of the same operation, its challenge is read below.
      await unlessTaken(() => insertAudited(db, auditWrite, (within) => challenges.insertOne(fresh, within)))
      const stored = await challenges.findOne({ workspaceId, opId })
      return stored === null ? challenge : challengeFromDocument(stored)
    },
    findChallenge: async (nonce: string): Promise<OwnershipChallenge | null> => {
      const stored = await challenges.findOne({ _id: nonce })
      return stored === null ? null : challengeFromDocument(stored)
    },
    /** Workspaces that would lose addresses by this proof, in the order of their ids. */
    findDisplaced: (proof: Omit<ProofWrite, 'displaced'>): Promise<readonly DisplacedUse[]> =>
      findDisplaced(db, proof, null),
    /** How many addresses of a material the workspace has proved; for a key 1 or 0. */
    countProved: (workspaceId: string, materialId: string): Promise<number> =>
      proofs.countDocuments({ materialId, workspaceId }),
  }
}

/** Proofs by subject; the part of the wallet repository that reads them. */
export async function findProofs(
  db: Database,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, OwnershipProof>> {
  if (subjects.length === 0) return new Map()
  const found = await db
    .collection(OWNERSHIP_PROOFS)
    .find({ _id: { $in: [...subjects] } }, { projection: { workspaceId: 1, provedAt: 1 } })
    .toArray()
  return new Map(found.map(({ _id, workspaceId, provedAt }) => [_id, { workspaceId, provedAt: toMs(provedAt) }]))
}

/** The ids under which a proof is stored. */
export function subjectsOf({ isKey, materialId, mode, family, rows }: Omit<ProofWrite, 'displaced'>): string[] {
  return isKey ? [keySubject(materialId)] : rows.map(({ matchKey }) => addressSubject(mode, family, matchKey))
}

/** Other workspaces that use what a proof covers, in the order of their ids; in a transaction if one is given. */
export async function findDisplaced(
  db: Database,
  proof: Omit<ProofWrite, 'displaced'>,
  session: Session | null,
): Promise<readonly DisplacedUse[]> {
  const within = session === null ? {} : { session }
  const { mode, family, rows, materialId, isKey, workspaceId } = proof
  const ids = rows.map(({ matchKey }) => `${mode}:${family}:${matchKey}`)
  const stored = await db
    .collection(ADDRESSES)
    .find({ _id: { $in: ids } }, within)
    .toArray()
  const uses = stored.flatMap(({ address, heldBy, materialId: use }) =>
    (heldBy ?? [use]).map((material) => ({ material, address })),
  )
  const materials = new Set([...uses.map(({ material }) => material), ...(isKey ? [materialId] : [])])
  const others = await db
    .collection(WALLETS)
    .find(
      { materialId: { $in: [...materials] }, workspaceId: { $ne: workspaceId }, displacedAt: { $exists: false } },
      within,
    )
    .toArray()
  const found = [...new Set(others.map((wallet) => wallet.workspaceId))].sort().map((other): DisplacedUse => {
    const wallets = others.filter((wallet) => wallet.workspaceId === other)
    const theirs = new Set(wallets.map((wallet) => wallet.materialId))
    const addresses = [...new Set(uses.filter(({ material }) => theirs.has(material)).map(({ address }) => address))]
    addresses.sort()
    const losesKey = isKey && theirs.has(materialId)
    const shown = { count: addresses.length, addresses: addresses.slice(0, SHOWN) }
    return { workspaceId: other, isKey: losesKey, ...shown, walletIds: wallets.map(({ _id }) => _id).sort() }
  })
  return found
}

const challengeToDocument = ({ nonce, ...same }: OwnershipChallenge): OwnershipChallengeDocument =>
  OWNERSHIP_CHALLENGES.toDocument({ id: nonce, ...same })

function challengeFromDocument(stored: OwnershipChallengeDocument): OwnershipChallenge {
  const { id: nonce, ...same } = OWNERSHIP_CHALLENGES.toRecord(stored)
  return { nonce, ...same }
}
