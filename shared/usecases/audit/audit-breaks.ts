import type { AuditBreak, AuditHeadMark } from '#shared/contracts/audit-progress.ts'
import type { SignedText } from '#shared/ports/audit-chain.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { signedText } from './audit-chain-text.ts'
import { canonicalJson } from './canonical-json.ts'

/** Rows that a person accepted as they stood when a break was answered. */
export interface AcceptedStretch {
  /** The last valid row before them; null when they begin with the first row. */
  readonly after: (AuditHeadMark & { readonly id: string }) | null
  readonly last: AuditHeadMark & { readonly id: string }
  readonly rows: number
  /** SHA-256 over all of their content, in order: a later change of one is a break again. */
  readonly digest: string
}

/** A break that a process found and nobody has answered yet. */
export interface NoticedBreak extends AuditBreak {
  readonly noticedAt: number
  /** The number that the break took: above every row, so that the mark outside of the store shows that it was noticed. */
  readonly reserved: number
}

/** A break with the answer of a person. */
export interface AnsweredBreak extends AuditBreak {
  readonly by: string
  readonly at: number
  readonly reason: string
  readonly stretch: AcceptedStretch | null
}

/** Every break that was noticed, and what was answered. */
export interface BreakRecord {
  readonly open: NoticedBreak | null
  readonly answered: readonly AnsweredBreak[]
  /** Documents without an audit row that a person accepted, as `kind:id`. */
  readonly accepted: readonly string[]
}

/** The record as it was read. */
export interface ReadBreaks {
  readonly record: BreakRecord
  /** The stored value; null when nothing is stored. */
  readonly value: string | null
  /** The record cannot be trusted; it then reads as an empty one. */
  readonly fault: AuditBreak | null
  /** The record is signed under a former key. */
  readonly isFormer: boolean
}

/** Dependencies of the chain's writer and its verifiers: the chain, the keys that sign it, and the marks outside of the store. */
export type AuditDeps = Uses<'auditChain' | 'auditKeys' | 'auditMarks'>

const EMPTY: BreakRecord = { open: null, answered: [], accepted: [] }

/** The record of breaks; one whose signature does not fit is a break. */
export async function readBreaks({
  auditChain,
  auditKeys,
}: Pick<AuditDeps, 'auditChain' | 'auditKeys'>): Promise<ReadBreaks> {
  const stored = await auditChain.breaks()
  if (stored === null) return { record: EMPTY, value: null, fault: null, isFormer: false }
  const { text, keyId, mac, value } = stored
  const expected = auditKeys.mac(keyId, breaksText(text))
  if (expected === mac) {
    return { record: JSON.parse(text) as BreakRecord, value, fault: null, isFormer: keyId !== auditKeys.keyId }
  }
  const isUnknown = expected === null && keyId !== ''
  const words = isUnknown
    ? `The record of breaks is signed under master key ${keyId}, which is not configured. Add it to PAYMESH_MASTER_KEYS_OLD.`
    : 'The record of breaks of the audit log was changed.'
  const fault = { kind: isUnknown ? 'unknown_key' : 'forged', seq: 0, id: null, words } as const
  return { record: EMPTY, value, fault, isFormer: false }
}

/** The record with its signature under the present key. */
export function signedBreaks(auditKeys: AuditKeys, record: BreakRecord): SignedText {
  const text = JSON.stringify(record)
  return { text, keyId: auditKeys.keyId, mac: signature(auditKeys, breaksText(text)) }
}

/** Signs under the present key. */
export function signature(auditKeys: AuditKeys, text: string): string {
  const mac = auditKeys.mac(auditKeys.keyId, text)
  if (mac === null) throw new Error('the audit key is missing from the ring')
  return mac
}

/**
 * Stores a break, so that verification fails and nothing is chained until a person answers it, and raises the mark outside of the store
 * above every row, so that the record cannot disappear without a trace. The first break stays until it is answered. A missing key
 * is no evidence of a change and is not stored.
 */
export async function noticeBreak(
  deps: AuditDeps & Uses<'clock'>,
  { kind, seq, id, words }: AuditBreak,
): Promise<void> {
  const { auditChain, auditKeys, auditMarks, clock } = deps
  if (kind === 'unknown_key' || kind === 'unrecorded') return
  const { record, value, fault } = await readBreaks(deps)
  if (record.open !== null || fault?.kind === 'unknown_key') return
  const reserved = (await highestVouched(deps)) + 1
  const open = { kind, seq, id, words, noticedAt: clock.now(), reserved }
  // Refused when another process stored a break or an answer meanwhile: what still stands is found again.
  if (await auditChain.saveBreaks({ was: value, next: signedBreaks(auditKeys, { ...record, open }) }))
    await auditMarks.raise(reserved)
}

/** The highest number that this installation gave: what anybody else wrote into the store does not count. */
export async function highestVouched({ auditChain, auditKeys, auditMarks }: AuditDeps): Promise<number> {
  const [head, tail, mark] = [await auditChain.head(), await auditChain.tail(), await auditMarks.highest()]
  const isHead = head !== null && auditKeys.mac(head.keyId, signedText('head', head)) === head.mac
  const isTail = tail !== null && auditKeys.mac(tail.keyId, signedText('row', tail)) === tail.mac
  return Math.max(isHead ? head.seq : 0, isTail ? tail.seq : 0, mark ?? 0)
}

/** Differs from every other text that the audit keys sign. */
const breaksText = (text: string): string => canonicalJson({ audit: 'breaks', text })
