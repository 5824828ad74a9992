import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** How long a challenge is valid. */
export const CHALLENGE_LIFE_MS: Ms = 24 * 3_600_000

/** The last workspace that proved control of an address or an extended key. */
export interface OwnershipProof {
  readonly workspaceId: string
  readonly provedAt: Ms
}

/** Subject and workspace of a challenge. */
export interface ChallengeFacts {
  readonly installationId: string
  readonly workspaceId: string
  readonly mode: Mode
  /** One address, or how many and the hash of their list; printable ASCII without line breaks. */
  readonly subject: string
  /** Lower-case hex. */
  readonly nonce: string
  /** ISO 8601 in UTC. */
  readonly validUntil: string
}

/**
 * The text that an owner signs: one line of printable ASCII, so that no wallet, form or file changes a byte, and
 * short enough for hardware wallets (below 400 characters).
 */
export function challengeText(facts: ChallengeFacts): string {
  const { installationId, workspaceId, mode, subject, nonce, validUntil } = facts
  return `Paymesh proof of control: workspace ${workspaceId} of installation ${installationId} may receive ${mode} payments on ${subject}. Nonce ${nonce}. Valid until ${validUntil}.`
}

/** What a workspace wants to receive on, using only its own data. */
export interface AdditionFacts {
  readonly mode: Mode
  /** Workspaces that are not suspended. */
  readonly liveWorkspaces: number
  readonly workspaceId: string
  /** One for each address or key. */
  readonly subjects: readonly {
    /** The workspace already receives on it and was not displaced. */
    readonly isOwn: boolean
    readonly proof: OwnershipProof | null
  }[]
}

/**
 * Whether the addition must come with a proof. With several live workspaces the result depends only on the workspace's
 * own data: other users or proofs of a subject matter only where a proof stands against the only live workspace.
 */
export function needsProof({ mode, liveWorkspaces, workspaceId, subjects }: AdditionFacts): boolean {
  if (mode === 'test') return false
  return subjects.some(({ isOwn, proof }) => {
    const isProvedByOther = proof !== null && proof.workspaceId !== workspaceId
    return isProvedByOther || (!isOwn && liveWorkspaces > 1)
  })
}

/**
 * Whether money on an address is withheld from an invoice of `holder`: another workspace proved control of the address before the
 * money was first seen, so the coins are that workspace's.
 */
export function isDisplaced(proof: OwnershipProof | null, holder: string, seenAt: Ms): boolean {
  return proof !== null && proof.workspaceId !== holder && seenAt >= proof.provedAt
}

/** The proof that applies to an address which was proved singly and through the key that derives it: the newest. */
export function newestProof(...proofs: readonly (OwnershipProof | null | undefined)[]): OwnershipProof | null {
  let newest: OwnershipProof | null = null
  for (const proof of proofs) {
    if (proof != null && (newest === null || proof.provedAt > newest.provedAt)) newest = proof
  }
  return newest
}

/** The id under which the proof of one address is stored. */
export function addressSubject(mode: Mode, family: Family, matchKey: string): string {
  return `address:${mode}:${family}:${matchKey}`
}

/** The id under which the proof of an extended key is stored. */
export function keySubject(materialId: string): string {
  return `key:${materialId}`
}
