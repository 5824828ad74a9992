import { createHash } from 'node:crypto'
import type { AuditChainRepository, AuditHead, AuditLink, AuditRecord, ChainedAudit } from '#shared/ports/audit.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { canonicalJson } from './canonical-json.ts'

/** Rows that get their places in one transaction. */
const BATCH_MAX = 100

/** What the first row stands on. */
export const CHAIN_START = '0'.repeat(64)

/** Action of the rows by which the chain's writer begins a part under another key. */
export const CHECKPOINT_ACTION = 'audit.checkpoint'

/** The trail is not as its writer left it, or its key is not known here: nothing is chained until a person has looked. */
export class AuditChainBroken extends Error {
  override readonly name = 'AuditChainBroken'
}

/** What extending the chain needs. */
export interface ExtendAuditDeps {
  readonly chain: Pick<AuditChainRepository, 'tail' | 'head' | 'hasKeyed' | 'waiting' | 'append' | 'listChained'>
  readonly keys: AuditKeys
  readonly clock: Clock
}

/**
 * Hash of a row in its place: SHA-256 over the UTF-8 bytes of `{"prevHash":…,"row":{…},"seq":…}`, JSON without spaces and with the
 * names in every object in the order of their code units, times in Unix milliseconds. Lower-case hex.
 */
export function chainHash(seq: number, prevHash: string, record: AuditRecord): string {
  return createHash('sha256')
    .update(canonicalJson({ seq, prevHash, row: record }))
    .digest('hex')
}

/** What a key signs: that the row with this number has this hash (`row`), or that the chain ends with it (`head`). */
export function signedText(what: 'row' | 'head', { seq, hash }: Pick<AuditLink, 'seq' | 'hash'>): string {
  return canonicalJson({ audit: what, seq, hash })
}

/**
 * Gives rows that wait their places behind the last one, and ends when none is left or `shouldStop` says so. Every row is signed; where
 * the rows before are under no key or a former one, a checkpoint row comes first. One writer at a time is meant to do so; a second
 * one, or one that slept while another went on, finds the next number taken, stops and loses nothing. Returns how many rows it
 * chained. Throws `AuditChainBroken` and chains nothing when the end is not the one that was signed.
 */
export async function extendAuditChain(deps: ExtendAuditDeps, shouldStop: () => boolean): Promise<number> {
  const { chain, keys } = deps
  let chained = 0
  while (!shouldStop()) {
    const end = await readEnd(deps)
    const waiting = await chain.waiting(BATCH_MAX)
    const checkpoint = end.checkpointFrom === null ? null : checkpointOf(deps, end.tail, end.checkpointFrom)
    const records = checkpoint === null ? waiting : [checkpoint, ...waiting]
    const links = linksBehind(end.tail, records, keys)
    const last = links.at(-1)
    if (last === undefined) return chained
    if (!(await chain.append({ checkpoint, links, head: signedHead(last, keys) }))) return chained
    chained += links.length
  }
  return chained
}

interface ChainEnd {
  readonly tail: AuditLink | null
  /** Name of the key before, `none` where there was none; null when the rows before are under the present key. */
  readonly checkpointFrom: string | null
}

async function readEnd({ chain, keys }: Pick<ExtendAuditDeps, 'chain' | 'keys'>): Promise<ChainEnd> {
  const [head, tail] = [await chain.head(), await chain.tail()]
  if (head === null) {
    if (tail === null) return { tail, checkpointFrom: null }
    if (tail.mac === undefined && !(await chain.hasKeyed())) return { tail, checkpointFrom: 'none' }
    throw new AuditChainBroken('rows are signed, and the signed end of the chain is gone')
  }
  const mac = keys.mac(head.keyId, signedText('head', head))
  if (mac === null)
    throw new AuditChainBroken(`the end is signed under master key ${head.keyId}, which is not known here`)
  if (mac !== head.mac) throw new AuditChainBroken('the signed end of the chain was changed')
  if (tail?.seq === head.seq && tail.hash === head.hash) {
    return { tail, checkpointFrom: head.keyId === keys.keyId ? null : head.keyId }
  }
  // Another writer may have gone on between the two reads.
  const now = await chain.head()
  if (now?.seq !== head.seq) return await readEnd({ chain, keys })
  return { tail: await unsignedTail(chain, head, tail), checkpointFrom: 'none' }
}

/**
 * The end of a chain that a version without keys continued behind the signed end, as a process of the version before does while it is
 * replaced. It may go on: who can write to the store could as well add rows that wait. What was signed must stand unchanged.
 */
async function unsignedTail(
  chain: Pick<AuditChainRepository, 'listChained'>,
  head: AuditHead,
  tail: AuditLink | null,
): Promise<AuditLink> {
  let before: AuditLink | null = null
  let id = ''
  for (;;) {
    const rows: readonly ChainedAudit[] = await chain.listChained({ seq: before?.seq ?? head.seq, id }, BATCH_MAX)
    for (const { record, ...link } of rows) {
      const fits: boolean =
        before === null
          ? link.seq === head.seq && link.hash === head.hash
          : link.seq === before.seq + 1 &&
            link.prevHash === before.hash &&
            chainHash(link.seq, link.prevHash, record) === link.hash
      if (!fits)
        throw new AuditChainBroken(`row ${head.seq} was signed as the end, and the rows from there on do not fit`)
      before = link
      id = record.id
    }
    if (rows.length < BATCH_MAX) break
  }
  if (before !== null && before.seq === tail?.seq) return before
  throw new AuditChainBroken(`the chain ends with row ${tail?.seq ?? 0}, and row ${head.seq} was signed as its end`)
}

/** The row that closes the part before: from here on the present key vouches for it. */
function checkpointOf({ clock, keys }: ExtendAuditDeps, tail: AuditLink | null, from: string): AuditRecord {
  const { seq, hash } = tail ?? { seq: 0, hash: CHAIN_START }
  return {
    ...{ id: `${CHECKPOINT_ACTION}:${seq}:${keys.keyId}`, at: clock.now(), actor: 'audit-chain' },
    ...{ action: CHECKPOINT_ACTION, subject: 'installation', workspaceId: null, mode: null },
    detail: { last: seq, hash, key_before: from, key: keys.keyId },
  }
}

function linksBehind(
  tail: AuditLink | null,
  records: readonly AuditRecord[],
  keys: AuditKeys,
): readonly (AuditLink & { readonly id: string })[] {
  let { seq, hash } = tail ?? { seq: 0, hash: CHAIN_START }
  return records.map((record) => {
    const prevHash = hash
    seq += 1
    hash = chainHash(seq, prevHash, record)
    return { id: record.id, seq, prevHash, hash, keyId: keys.keyId, mac: sign(keys, 'row', { seq, hash }) }
  })
}

function signedHead({ seq, hash }: AuditLink, keys: AuditKeys): AuditHead {
  return { seq, hash, keyId: keys.keyId, mac: sign(keys, 'head', { seq, hash }) }
}

function sign(keys: AuditKeys, what: 'row' | 'head', place: Pick<AuditLink, 'seq' | 'hash'>): string {
  const mac = keys.mac(keys.keyId, signedText(what, place))
  if (mac === null) throw new Error('the key that signs is none of the ring')
  return mac
}
