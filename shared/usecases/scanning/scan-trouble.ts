import type { Ms } from '#shared/domain/invoice/model.ts'
import { ScannerFenced } from '#shared/ports/payments.ts'
import { BlockUnreadable, NodeMismatch, NodeUnreliable, type ScanTrouble } from '#shared/ports/scanning.ts'
import { LeaseLost, moveCursor, type ScanSession } from './scan-session.ts'

/** A failure that goes on is written down at most this often. */
const WRITE_EVERY_MS = 5_000
const REASON_MAX = 300

/** What kind of failure ended a step of a scan. `lease`: another scanner took over, which is no trouble. */
export type ScanFailure = ScanTrouble['kind'] | 'lease'

/** Which kind of failure an error is. */
export function scanFailure(error: unknown): ScanFailure {
  if (error instanceof LeaseLost || error instanceof ScannerFenced) return 'lease'
  if (error instanceof NodeMismatch) return 'mismatch'
  return error instanceof NodeUnreliable ? 'node' : 'other'
}

/** Writes down at the cursor why it stays where it is. One per scanner: it counts over lost and regained leases. */
export interface TroubleRecord {
  /**
   * Gives what `work` gives and throws what it throws. Stores a failure, and the node's head when it is ahead, under the session's
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
        // What a cursor still carries goes on: the step neither passed the block nor stood at the head.
        if (session.cursor.trouble == null) latest = null
        return result
      } catch (error) {
        await store(session, error).catch((cause: unknown) => {
          session.deps.logger.warn({ err: cause }, 'a failure could not be written to the cursor')
        })
        throw error
      }
    },
  }
}

/** The head as it was last read, where it is ahead of the cursor and news: how far behind the scan is must be seen while it fails. */
function headAhead({ cursor, head }: ScanSession): { headHeight?: number; headSeenAt?: Ms } {
  if (head === undefined || head.height <= cursor.height || head.seenAt < cursor.headSeenAt) return {}
  return { headHeight: head.height, headSeenAt: head.seenAt }
}

/** Block, method, cause and host of an error; `next` is the block to blame when the error names none. */
export function troubleFacts(
  error: unknown,
  next: number,
): Pick<ScanTrouble, 'height' | 'hash' | 'method' | 'reason' | 'host'> {
  if (error instanceof BlockUnreadable) {
    const { height, hash, method, reason } = error.block
    return { height, hash, method, reason: plainText(reason), host: hostOf(error) }
  }
  const call = error instanceof NodeUnreliable ? error.call : null
  return {
    height: next,
    hash: null,
    method: call?.method ?? null,
    reason: plainText(textOf(error)),
    host: call?.host ?? null,
  }
}

function hostOf(error: BlockUnreadable): string | null {
  const { cause } = error
  return cause instanceof NodeUnreliable ? (cause.call?.host ?? null) : null
}

function textOf(error: unknown): string {
  if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return error.message
  return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error'
}

/**
 * One printable line without a full stop. Of a URL only its host stays, because the rest may be a credential; a node's own words
 * may hold control characters that a terminal would obey.
 */
function plainText(text: string): string {
  const line = text
    .replaceAll(/[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi, (url) => (URL.canParse(url) ? new URL(url).host : 'a URL'))
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/\.+$/, '')
  const cut = [...line].slice(0, REASON_MAX).join('')
  return cut === '' ? 'no reason was given' : cut
}
