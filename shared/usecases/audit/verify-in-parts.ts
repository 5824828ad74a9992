import type { AuditChainRepository, SignedProgress } from '#shared/ports/audit-chain.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { canonicalJson } from './canonical-json.ts'
import { type AuditBreak, type AuditHeadMark, type AuditWalk, continueWalk, headOf, newWalk } from './verify-audit.ts'

/** After this time verification begins at the first row again: verified rows may have been changed since. */
const WHOLE_EVERY_MS = 7 * 86_400_000
/** Batches behind the last row of the job that one request verifies itself. */
const ASKED_BATCHES = 5

/** Dependencies of verifying in parts. */
export interface VerifyInPartsDeps {
  readonly chain: Pick<
    AuditChainRepository,
    'listChained' | 'extent' | 'head' | 'unchained' | 'countWaiting' | 'verified' | 'saveVerified'
  >
  readonly keys: AuditKeys
  readonly clock: Clock
}

/** How far the audit log is verified. */
export interface AuditProgress {
  /** No break was found among the rows checked. */
  readonly intact: boolean
  /** Every row up to the end was checked. */
  readonly complete: boolean
  readonly checked: number
  readonly total: number
  readonly firstBreak: AuditBreak | null
  readonly head: AuditHeadMark | null
  readonly signedFrom: number | null
  /** When the job began at the first row; null before its first run. */
  readonly startedAt: number | null
  /** Rows not chained yet, counted up to 10,000. */
  readonly waiting: number
  /** Rows neither chained nor waiting, counted when a walk began; 0 before. */
  readonly outside: number
}

/** State stored between two parts. */
interface Kept {
  readonly walk: AuditWalk
  readonly startedAt: number
  readonly outside: number
}

/**
 * Verifies the audit log behind the last verified row, and begins at the first row again once a week. Signs and stores its progress
 * after each part, and ignores stored progress that this installation did not sign. Run it in one process at a time; two do the same
 * work twice.
 */
export async function verifyNextPart(deps: VerifyInPartsDeps, shouldStop: () => boolean): Promise<AuditProgress> {
  const now = deps.clock.now()
  const stored = await readKept(deps)
  const isStale = stored === null || now - stored.startedAt >= WHOLE_EVERY_MS
  const kept = isStale ? { walk: newWalk(), startedAt: now, outside: (await deps.chain.unchained()).outside } : stored
  const progress = await goOn(deps, kept, null, shouldStop)
  await deps.chain.saveVerified(signed(deps.keys, kept))
  return progress
}

/**
 * How far the audit log is verified, and whether `since` is still part of it. Verifies at most 5,000 rows behind the last one of the
 * job, and stores nothing.
 */
export async function readVerification(deps: VerifyInPartsDeps, since: AuditHeadMark | null): Promise<AuditProgress> {
  const stored = await readKept(deps)
  let batches = 0
  const kept = stored ?? { walk: newWalk(), startedAt: deps.clock.now(), outside: 0 }
  const progress = await goOn(deps, kept, since, () => {
    batches += 1
    return batches >= ASKED_BATCHES
  })
  const cut = since === null ? null : await cutAt(deps, since)
  const firstBreak = progress.firstBreak ?? cut
  return { ...progress, firstBreak, intact: firstBreak === null, startedAt: stored?.startedAt ?? null }
}

async function goOn(
  deps: VerifyInPartsDeps,
  { walk, startedAt, outside }: Kept,
  since: AuditHeadMark | null,
  shouldStop: () => boolean,
): Promise<AuditProgress> {
  const { chain, keys } = deps
  const verified = headOf(walk)
  // A walk reads forward only, and would not find that verified rows were removed.
  const lost = verified === null ? null : await cutAt(deps, verified)
  const input = { since, onProgress: () => undefined, shouldStop }
  const part = await continueWalk({ chain, keys }, walk, input)
  const firstBreak = lost ?? part.firstBreak
  return {
    ...{ intact: firstBreak === null, complete: part.atEnd && firstBreak === null, checked: walk.checked },
    ...{ total: part.total, firstBreak, head: headOf(walk), signedFrom: walk.signedFrom, startedAt, outside },
    waiting: await chain.countWaiting(),
  }
}

/** The break when the row with this number and hash is missing or was replaced. */
async function cutAt({ chain }: VerifyInPartsDeps, mark: AuditHeadMark): Promise<AuditBreak | null> {
  const [row] = await chain.listChained({ seq: mark.seq, id: '' }, 1)
  if (row?.seq === mark.seq && row.hash === mark.hash) return null
  const words = `Row ${mark.seq} was part of the audit log; it is missing or was replaced.`
  return { kind: 'cut', seq: mark.seq, id: row?.seq === mark.seq ? row.record.id : null, words }
}

/** The stored progress; null unless this installation signed it. */
async function readKept({ chain, keys }: VerifyInPartsDeps): Promise<Kept | null> {
  const stored = await chain.verified()
  if (stored === null || keys.mac(stored.keyId, signedText(stored.text)) !== stored.mac) return null
  return JSON.parse(stored.text) as Kept
}

function signed(keys: AuditKeys, kept: Kept): SignedProgress {
  const text = JSON.stringify(kept)
  const mac = keys.mac(keys.keyId, signedText(text))
  if (mac === null) throw new Error('the audit key is missing from the ring')
  return { text, keyId: keys.keyId, mac }
}

/** Differs from every text that the chain's writer signs. */
const signedText = (text: string): string => canonicalJson({ audit: 'verified', text })
