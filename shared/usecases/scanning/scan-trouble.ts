import { errorText } from '#shared/contracts/error-text.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { plainText } from '#shared/domain/nodes/plain-text.ts'
import type { ScanTrouble } from '#shared/ports/cursors.ts'
import { ScannerFenced } from '#shared/ports/payments.ts'
import { BlockUnreadable, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { LeaseLost, moveCursor, type ScanSession } from './scan-session.ts'

/** A lasting failure is written at most this often. */
const WRITE_EVERY_MS = 5_000
const REASON_MAX = 300

/** The kind of failure that ended a scan step. `lease`: another scanner took over, which is not a fault. */
export type ScanFailure = ScanTrouble['kind'] | 'lease'

/** Classifies an error. */
export function scanFailure(error: unknown): ScanFailure {
  if (error instanceof LeaseLost || error instanceof ScannerFenced) return 'lease'
  if (error instanceof NodeMismatch) return 'mismatch'
  if (!(error instanceof NodeUnreliable)) return 'other'
  // A node that named a block has responded: what is late then, or ends the connection, is one answer. Without a connection it is the node.
  return error.isAway || (error.isSilent && !(error instanceof BlockUnreadable)) ? 'silent' : 'node'
}

/** Records at the cursor why it stays where it is. One per scanner: it counts across lost and regained leases. */
export interface TroubleRecord {
  /**
   * Returns the result of `work` and passes on its errors. Stores a failure, and the node's head when it is ahead, under the session's
   * lease: the first one of a block at once, later ones at most every 5 s, nothing when another scanner took over.
   */
  during<T>(session: ScanSession, work: () => Promise<T>): Promise<T>
}

/** Makes the record of one scanner. */
export function createTroubleRecord(): TroubleRecord {
  let latest: ScanTrouble | null = null

  async function store(session: ScanSession, error: unknown): Promise<void> {
    const kind = scanFailure(error)
    if (kind === 'lease') return
    const now = session.deps.clock.now()
    const stored = session.cursor.trouble ?? null
    const facts = { kind, ...troubleFacts(error, session.cursor.height + 1) }
    const before = [latest, stored].find((one) => one?.height === facts.height)
    latest = { ...facts, firstAt: before?.firstAt ?? now, lastAt: now, tries: (before?.tries ?? 0) + 1 }
    const isNews = stored === null || stored.height !== facts.height || stored.kind !== kind
    if (!isNews && now - stored.lastAt < WRITE_EVERY_MS) return
    await moveCursor(session, { trouble: latest, ...headAhead(session) })
  }

  return {
    async during(session, work) {
      try {
        const result = await work()
        // A failure still stored at the cursor counts on: the step neither passed the block nor reached the head.
        if (session.cursor.trouble == null) latest = null
        return result
      } catch (error) {
        await store(session, error).catch((cause: unknown) => {
          // A session that goes on without its lease would fail in silence for as long as its node does.
          if (cause instanceof LeaseLost) throw cause
          session.deps.logger.warn({ err: cause }, 'a failure could not be written to the cursor')
        })
        throw error
      }
    },
  }
}

/** The head as last read, if it is ahead of the cursor and new: the lag must stay visible while the scan fails. */
function headAhead({ cursor, head }: ScanSession): { headHeight?: number; headSeenAt?: Ms } {
  if (head === undefined || head.height <= cursor.height || head.seenAt < cursor.headSeenAt) return {}
  return { headHeight: head.height, headSeenAt: head.seenAt }
}

/** Block, method, cause and host of an error; `next` is the block to report when the error names none. */
export function troubleFacts(
  error: unknown,
  next: number,
): Pick<ScanTrouble, 'height' | 'hash' | 'method' | 'reason' | 'host'> {
  if (error instanceof BlockUnreadable) {
    const { height, hash, method, reason } = error.block
    if (error.isAway && error.cause instanceof NodeUnreliable) return troubleFacts(error.cause, height)
    return { height, hash, method, reason: shownReason(reason), host: hostOf(error) }
  }
  const call = error instanceof NodeUnreliable ? error.call : null
  return {
    height: next,
    hash: null,
    method: call?.method ?? null,
    reason: shownReason(textOf(error)),
    host: call?.host ?? null,
  }
}

function hostOf(error: BlockUnreadable): string | null {
  const { cause } = error
  return cause instanceof NodeUnreliable ? (cause.call?.host ?? null) : null
}

function textOf(error: unknown): string {
  if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return error.message
  const text = errorText(error)
  return error instanceof Error && text !== error.name ? `${error.name}: ${text}` : text
}

/** The first 300 characters of a text as one printable line. */
function shownReason(text: string): string {
  const cut = [...plainText(text)].slice(0, REASON_MAX).join('')
  return cut === '' ? 'no reason was given' : cut
}
