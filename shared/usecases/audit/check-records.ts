import type { AuditBreak } from '#shared/contracts/audit-progress.ts'
import type { RecordedDocuments } from '#shared/db/maintenance/recorded-documents.ts'
import { RECORDED_KINDS, type RecordedKind } from '#shared/ports/recorded-documents.ts'

const PAGE = 500
/** Documents without a row that are named; the others are found when these are answered or removed. */
export const NAMED_MAX = 1_000

/** Where a check of the documents goes on. */
export interface RecordsPosition {
  readonly kind: RecordedKind
  readonly after: string | null
}

/** Where a check begins. */
export const FIRST_RECORD: RecordsPosition = { kind: RECORDED_KINDS[0], after: null }

/**
 * Looks for documents that have no audit row although no code stores them without one: workspaces, accounts, memberships, invitations, API
 * keys, wallets, endpoints and refunds. Reads pages of 500 until the end or until `shouldStop` after a page; `next` is null at the end.
 * `missing` names at most 1,000 as `kind:id`.
 */
export async function checkRecords(
  documents: RecordedDocuments,
  from: RecordsPosition,
  shouldStop: () => boolean,
): Promise<{ readonly missing: readonly string[]; readonly next: RecordsPosition | null }> {
  const missing: string[] = []
  let next: RecordsPosition | null = from
  while (next !== null) {
    const { kind, after }: RecordsPosition = next
    const page = await documents.page(kind, after, PAGE)
    missing.push(...page.filter(({ isRecorded }) => !isRecorded).map(({ id }) => `${kind}:${id}`))
    next = page.length === PAGE ? { kind, after: page.at(-1)?.id ?? null } : firstOf(kind)
    if (shouldStop()) break
  }
  return { missing: missing.slice(0, NAMED_MAX), next }
}

/** The break of documents without a row; null when there is none that nobody accepted. */
export function recordsBreak(unrecorded: readonly string[]): AuditBreak | null {
  const [first] = unrecorded
  if (first === undefined) return null
  const many = unrecorded.length < NAMED_MAX ? `${unrecorded.length}` : `${NAMED_MAX} or more`
  const words = `${many} stored documents have no audit row about how they came to be, for instance ${first}.`
  return { kind: 'unrecorded', seq: 0, id: first, words }
}

/** The first page behind a kind; null behind the last. */
function firstOf(previous: RecordedKind): RecordsPosition | null {
  const kind = RECORDED_KINDS[RECORDED_KINDS.indexOf(previous) + 1]
  return kind === undefined ? null : { kind, after: null }
}
