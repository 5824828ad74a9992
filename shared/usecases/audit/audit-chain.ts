import { createHash } from 'node:crypto'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { AuditChainRepository, AuditHead, AuditLink, ChainedAudit } from '#shared/ports/audit-chain.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { canonicalJson } from './canonical-json.ts'

/** Rows chained in one transaction. */
const BATCH_MAX = 100

/** Previous hash of the first row. */
export const CHAIN_START = '0'.repeat(64)

/** Action of the rows that mark the change to another signing key. */
export const CHECKPOINT_ACTION = 'audit.checkpoint'

/** The audit log was changed, or its key is missing here: nothing is chained until a person has investigated. */
export class AuditChainBroken extends Error {
  override readonly name = 'AuditChainBroken'
}

/** Dependencies of extending the chain. */
export interface ExtendAuditDeps {
  readonly chain: Pick<AuditChainRepository, 'tail' | 'head' | 'hasKeyed' | 'waiting' | 'append' | 'listChained'>
  readonly keys: AuditKeys
  readonly clock: Clock
}

/**
 * Hash of a row at its number: SHA-256 over the UTF-8 bytes of `{"prevHash":…,"row":{…},"seq":…}`, JSON without spaces and with the
 * names in every object in the order of their code units, times in Unix milliseconds. Lower-case hex.
 */
export function chainHash(seq: number, prevHash: string, record: AuditRecord): string {
  return createHash('sha256')
    .update(canonicalJson({ seq, prevHash, row: record }))
    .digest('hex')
}

/** The text a key signs: this row has this number and hash (`row`), or the chain ends with it (`head`). */
export function signedText(what: 'row' | 'head', { seq, hash }: Pick<AuditLink, 'seq' | 'hash'>): string {
  return canonicalJson({ audit: what, seq, hash })
}

/**
 * Chains waiting rows behind the last one, until none is left or `shouldStop` returns true. Every row is signed; if the
 * preceding rows are unsigned or signed under a former key, a checkpoint row comes first. Intended for one writer at a time; a second
 * writer, or one that paused while another continued, finds the next number taken, stops and loses nothing. Returns how many rows it
 * chained. Throws `AuditChainBroken` and chains nothing when the end differs from the signed one.
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
  /** Name of the previous key, `none` if there was none; null when the preceding rows are under the present key. */
  readonly checkpointFrom: string | null
}

async function readEnd({ chain, keys }: Pick<ExtendAuditDeps, 'chain' | 'keys'>): Promise<ChainEnd> {
  const [head, tail] = [await chain.head(), await chain.tail()]
  if (head === null) {
    if (tail === null) return { tail, checkpointFrom: null }
    if (tail.mac === undefined && !(await chain.hasKeyed())) return { tail, checkpointFrom: 'none' }
    // Another writer may have signed the first rows since the first of these reads.
    if ((await chain.head()) !== null) return await readEnd({ chain, keys })
    throw new AuditChainBroken('rows are signed, and the signed end of the chain is gone')
  }
  const mac = keys.mac(head.keyId, signedText('head', head))
  if (mac === null)
    throw new AuditChainBroken(`the end is signed under master key ${head.keyId}, which is not known here`)
  if (mac !== head.mac) throw new AuditChainBroken('the signed end of the chain was changed')
  if (tail?.seq === head.seq && tail.hash === head.hash) {
    return { tail, checkpointFrom: head.keyId === keys.keyId ? null : head.keyId }
  }
  // Another writer may have extended the chain between the two reads.
  const now = await chain.head()
  if (now?.seq !== head.seq) return await readEnd({ chain, keys })
  return { tail: await unsignedTail(chain, head, tail), checkpointFrom: 'none' }
}

/**
 * The end of a chain that a version without keys extended past the signed end, as a process of the previous version does during an
 * upgrade. The chain may continue: anyone able to write to the store could add waiting rows as well. Signed rows must be unchanged.
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

/** The row that closes the previous part: from here on rows are signed under the present key. */
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
  if (mac === null) throw new Error('the audit key is missing from the ring')
  return mac
}
