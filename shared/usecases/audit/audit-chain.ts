import type { AuditBreak } from '#shared/contracts/audit-progress.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { AuditHead, AuditLink, AuditStep, StoredHead } from '#shared/ports/audit-chain.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type AuditDeps, readBreaks, signature, signedBreaks } from './audit-breaks.ts'
import { CHAIN_START, chainHash, signedText } from './audit-chain-text.ts'

/** Rows chained in one transaction. */
const BATCH_MAX = 100

/** Action of the rows that mark the change to another signing key. */
export const CHECKPOINT_ACTION = 'audit.checkpoint'

/** The audit log was changed, or its key is missing here: nothing is chained until a person has investigated and answered. */
export class AuditChainBroken extends Error {
  override readonly name = 'AuditChainBroken'
  readonly found: AuditBreak
  constructor(found: AuditBreak) {
    super(found.words)
    this.found = found
  }
}

/** Dependencies of extending the chain. */
export type ExtendAuditDeps = AuditDeps & Uses<'clock'>

/**
 * Chains waiting rows behind the last one, until none is left or `shouldStop` returns true, and raises the mark outside of the store.
 * Every row is signed; if the preceding rows are signed under a former key, a checkpoint row comes first. Intended for one writer at a
 * time; a second writer, or one that paused while another continued, finds the end moved, stops and loses nothing. Returns how many rows
 * it chained. Throws `AuditChainBroken` and chains nothing when the end differs from the signed one, lies before the mark, or
 * a break was not answered.
 */
export async function extendAuditChain(deps: ExtendAuditDeps, shouldStop: () => boolean): Promise<number> {
  const { auditChain, auditKeys, auditMarks } = deps
  let chained = 0
  while (!shouldStop()) {
    await requireAnswered(deps)
    const { head, tail } = await readEnd(deps)
    const waiting = await auditChain.waiting(BATCH_MAX)
    const checkpoint = head === null || head.keyId === auditKeys.keyId ? null : checkpointOf(deps, head)
    const links = linksBehind(tail, checkpoint === null ? waiting : [checkpoint, ...waiting], auditKeys)
    const last = links.at(-1) ?? tail
    if (links.length > 0 && !(await auditChain.append(stepTo({ head, checkpoint, links }, auditKeys)))) return chained
    if (last !== null) await auditMarks.raise(last.seq)
    if (links.length === 0) return chained
    chained += links.length
  }
  return chained
}

/** Throws while a break has no answer. A record of breaks under a former key is signed under the present one. */
async function requireAnswered({ auditChain, auditKeys, auditMarks }: ExtendAuditDeps): Promise<void> {
  const { record, fault, isFormer, value } = await readBreaks({ auditChain, auditKeys })
  if (fault !== null) throw new AuditChainBroken(fault)
  if (record.open !== null) {
    // The place may have been unreachable when the break was noticed.
    await auditMarks.raise(record.open.reserved)
    throw new AuditChainBroken(record.open)
  }
  if (isFormer) await auditChain.saveBreaks({ was: value, next: signedBreaks(auditKeys, record) })
}

/** The end of the chain, proved by its signature and by the mark. */
export async function readEnd(
  deps: AuditDeps,
): Promise<{ readonly head: StoredHead | null; readonly tail: AuditLink | null }> {
  const { auditChain, auditKeys, auditMarks } = deps
  // Read first: a mark is raised after its rows are stored.
  const mark = await auditMarks.highest()
  const [head, tail] = [await auditChain.head(), await auditChain.tail()]
  const found = endBreak(head, tail, auditKeys)
  if (found !== null) {
    // Another writer may have extended the chain between the two reads.
    if ((await auditChain.head())?.text !== head?.text) return await readEnd(deps)
    throw new AuditChainBroken(found)
  }
  const last = tail?.seq ?? 0
  if (mark !== null && mark > last) throw new AuditChainBroken(belowMark(last, mark))
  return { head, tail }
}

/** The break of a log that ends before the mark outside of the store. */
export function belowMark(last: number, mark: number): AuditBreak {
  const words = `The audit log ends with row ${last}, but number ${mark} was recorded outside of the store.`
  return { kind: 'cut', seq: last + 1, id: null, words }
}

function endBreak(head: StoredHead | null, tail: AuditLink | null, auditKeys: AuditKeys): AuditBreak | null {
  const last = tail?.seq ?? 0
  if (head === null) {
    const words = 'Rows are signed, but the signed end of the audit log is missing.'
    return tail === null ? null : { kind: 'cut', seq: last, id: null, words }
  }
  const mac = auditKeys.mac(head.keyId, signedText('head', head))
  if (mac === null && head.keyId !== '') {
    const words = `The end of the audit log is signed under master key ${head.keyId}, which is not known here.`
    return { kind: 'unknown_key', seq: head.seq, id: null, words }
  }
  if (mac !== head.mac) {
    return { kind: 'forged', seq: last, id: null, words: 'The signed end of the audit log was changed.' }
  }
  if (last === head.seq && tail?.hash === head.hash) return null
  const words = `The audit log ends with row ${last}, but row ${head.seq} was signed as its end, and differs or is missing.`
  return { kind: 'cut', seq: Math.min(last + 1, head.seq), id: null, words }
}

/** The row that closes the previous part: from here on rows are signed under the present key. */
function checkpointOf({ clock, auditKeys }: ExtendAuditDeps, { seq, hash, keyId }: AuditHead): AuditRecord {
  return {
    ...{ id: `${CHECKPOINT_ACTION}:${seq}:${auditKeys.keyId}`, at: clock.now(), actor: 'audit-chain' },
    ...{ action: CHECKPOINT_ACTION, subject: 'installation', workspaceId: null, mode: null },
    detail: { last: seq, hash, key_before: keyId, key: auditKeys.keyId },
  }
}

type NewLink = AuditLink & { readonly id: string }

/** Signed places of rows behind the last one; the first number is the next one, or `from`, which leaves a gap. */
export function linksBehind(
  tail: Pick<AuditLink, 'seq' | 'hash'> | null,
  records: readonly AuditRecord[],
  auditKeys: AuditKeys,
  from = (tail?.seq ?? 0) + 1,
): readonly NewLink[] {
  let hash = tail?.hash ?? CHAIN_START
  return records.map((record, index) => {
    const [prevHash, seq] = [hash, from + index]
    hash = chainHash(seq, prevHash, record)
    return {
      id: record.id,
      seq,
      prevHash,
      hash,
      keyId: auditKeys.keyId,
      mac: signature(auditKeys, signedText('row', { seq, hash })),
    }
  })
}

/** The step that stores these links and moves the signed end to the last of them. */
export function stepTo(
  {
    head,
    checkpoint,
    links,
  }: { readonly head: StoredHead | null; readonly checkpoint: AuditRecord | null; readonly links: readonly NewLink[] },
  auditKeys: AuditKeys,
): AuditStep {
  const last = links.at(-1)
  if (last === undefined) throw new Error('a step needs a row')
  const { seq, hash } = last
  const signed = { seq, hash, keyId: auditKeys.keyId, mac: signature(auditKeys, signedText('head', { seq, hash })) }
  return { was: head?.text ?? null, checkpoint, links, head: signed }
}
