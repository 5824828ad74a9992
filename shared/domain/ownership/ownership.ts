import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** How long a challenge may be answered. */
export const CHALLENGE_LIFE_MS: Ms = 24 * 3_600_000

/** Who proved last that they control an address or an extended key. */
export interface OwnershipProof {
  readonly workspaceId: string
  readonly provedAt: Ms
}

/** What a challenge is about, and for whom. */
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
 * The text that an owner signs: one line of printable ASCII, so that no wallet, form or file changes a byte of it, and
 * short enough for hardware wallets (below 400 characters).
 */
export function challengeText(facts: ChallengeFacts): string {
  const { installationId, workspaceId, mode, subject, nonce, validUntil } = facts
  return `Paymesh proof of control: workspace ${workspaceId} of installation ${installationId} may receive ${mode} payments on ${subject}. Nonce ${nonce}. Valid until ${validUntil}.`
}

/** What a workspace wants to receive on, as far as it is its own business. */
export interface AdditionFacts {
  readonly mode: Mode
  /** Workspaces that are not suspended. */
  readonly liveWorkspaces: number
  readonly workspaceId: string
  /** One for each address or key. */
  readonly subjects: readonly {
    /** The workspace receives on it already and was not displaced. */
    readonly isOwn: boolean
    readonly proof: OwnershipProof | null
  }[]
}

/**
 * Whether the addition must come with a proof. With several live workspaces the answer depends on nothing but what the workspace
 * itself has: who else uses or proved a subject changes it only where somebody's proof stands against the only live workspace.
 */
export function needsProof({ mode, liveWorkspaces, workspaceId, subjects }: AdditionFacts): boolean {
  if (mode === 'test') return false
  return subjects.some(({ isOwn, proof }) => {
    const isProvedByOther = proof !== null && proof.workspaceId !== workspaceId
    return isProvedByOther || (!isOwn && liveWorkspaces > 1)
  })
}

/**
 * Whether money on an address is kept from an invoice of `holder`: another workspace proved control of the address before the
 * money was first seen, so the coins are theirs.
 */
export function isDisplaced(proof: OwnershipProof | null, holder: string, seenAt: Ms): boolean {
  return proof !== null && proof.workspaceId !== holder && seenAt >= proof.provedAt
}

/** The proof that decides about an address which was proved singly and through the key that derives it: the newest. */
export function newestProof(...proofs: readonly (OwnershipProof | null | undefined)[]): OwnershipProof | null {
  let newest: OwnershipProof | null = null
  for (const proof of proofs) {
    if (proof != null && (newest === null || proof.provedAt > newest.provedAt)) newest = proof
  }
  return newest
}
