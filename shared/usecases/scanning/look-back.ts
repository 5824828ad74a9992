import type { Ms } from '#shared/domain/invoice/model.ts'
import type { BlockPlace, Holdings } from '#shared/ports/account-reader.ts'
import type { AccountStart } from '#shared/ports/native-balances.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { compareRange } from './compare-range.ts'
import type { ScanSession } from './scan-session.ts'
import { blockAt, keysOf, LOG_REQUESTS, type OpenWatch, type Possibility, requestByAge } from './thrifty-reads.ts'

/** How long a deadline waits for the logs of tokens that came in; then a person decides. */
const PATIENCE_MS = 60_000

/** What newest balances show beside what accounts had at first. */
export interface Scene {
  /** Those whose balances are not what is stored, on some node, or whose start is not known. */
  readonly open: readonly OpenWatch[]
  readonly starts: ReadonlyMap<string, AccountStart>
  /** Of each node, at the cursor. */
  readonly answers: readonly Holdings[]
}

/**
 * Compares balances since accounts were shown with what is stored, and reads the blocks that explain a difference: an account of yesterday hides
 * nothing of one of this minute. Returns those whose earlier balances no node has any more; `spent` where the budget of one step was used up first.
 */
export async function lookBack(session: ScanSession, scene: Scene): Promise<Scene | 'spent'> {
  // What was looked through already is younger.
  const fromOf = ({ matchKey, since }: OpenWatch): Ms => session.proving?.get(matchKey)?.time ?? since
  const byAge = scene.open.toSorted((one, other) => fromOf(one) - fromOf(other))
  const gone = await requestByAge(byAge, (open) => compareSince(session, { ...scene, open }))
  return gone === 'spent' ? gone : { ...scene, open: gone }
}

/**
 * Compares balances on every node between a block before the accounts were shown and the cursor with what is stored, and reads the blocks that
 * explain a difference. A start may be older: clocks differ, and what came in since then is missing. `spent` where the budget of one step was
 * used up first; `impossible` where no node has those balances any more. What was looked through for an account is not looked through again,
 * whatever the others take.
 */
async function compareSince(session: ScanSession, { open, starts, answers }: Scene): Promise<Possibility> {
  const { cursor, deps } = session
  const { height, hash, time } = cursor
  session.proving ??= new Map()
  const { proving } = session
  const left = open.filter(({ matchKey }) => proving.get(matchKey)?.hash !== hash)
  if (left.length === 0) return 'done'
  const matchKeys = keysOf(left)
  const senders = matchKeys.filter((matchKey) => {
    const start = starts.get(matchKey)
    return start === undefined || hasSent(start, matchKey, answers)
  })
  const from = await placeSince(session, left, starts)
  if (from.height >= height) return 'done'
  const waitedMs = deps.clock.now() - (session.unprovenSince ?? deps.clock.now())
  const outcome = await compareRange(session, {
    from,
    to: cursor,
    matchKeys,
    senders,
    everywhere: true,
    logRequests: LOG_REQUESTS,
    mayLackLogs: waitedMs >= PATIENCE_MS,
  })
  if (outcome === 'forked') {
    // The place may be a block that was replaced.
    for (const matchKey of matchKeys) proving.delete(matchKey)
    throw new NodeUnreliable(`no node has both block ${from.height} and block ${height}`)
  }
  if (outcome === 'gone') return 'impossible'
  const through = outcome === 'done' ? { height, hash, time } : outcome
  for (const matchKey of matchKeys) proving.set(matchKey, through)
  return outcome === 'done' ? 'done' : 'spent'
}

/** The lowest block up to which one of the accounts was looked through; of those that were not, one before they were shown, or their start where that is lower. */
async function placeSince(
  session: ScanSession,
  watches: readonly OpenWatch[],
  starts: ReadonlyMap<string, AccountStart>,
): Promise<BlockPlace> {
  const { cursor, source, proving } = session
  const { marginMs = 0 } = source.thrifty ?? source.looks ?? {}
  const places: BlockPlace[] = []
  const fresh: OpenWatch[] = []
  for (const watch of watches) {
    const place = proving?.get(watch.matchKey)
    if (place === undefined || place.height >= cursor.height) fresh.push(watch)
    else places.push(place)
  }
  if (fresh.length > 0) {
    const before = await blockBefore(session, Math.min(...fresh.map(({ since }) => since)) - marginMs)
    const lowest = Math.min(before.height, ...keysOf(fresh).flatMap((matchKey) => starts.get(matchKey)?.height ?? []))
    places.push(lowest < before.height ? await blockAt(session, lowest) : before)
  }
  return places.reduce((one, other) => (other.height < one.height ? other : one))
}

/** Whether a node shows another number of sent transactions, or other code, than the account had at first. */
export const hasSent = ({ figures }: AccountStart, matchKey: string, answers: readonly Holdings[]): boolean =>
  answers.some((answer) => answer.get(matchKey)?.at(-1) !== figures.at(-1))

/**
 * The newest block at or below the cursor that is not later than a time, or the first one. What an account had before is none of the invoice's,
 * so an older block would not do.
 */
async function blockBefore(session: ScanSession, time: Ms): Promise<BlockPlace> {
  const { cursor, source } = session
  const { blockTimeMs = 1 } = source.thrifty ?? {}
  let blocks = Math.ceil(Math.max(0, cursor.time - time) / blockTimeMs)
  let later = cursor.height + 1
  let found: BlockPlace = await blockAt(session, Math.max(0, cursor.height - blocks))
  while (found.time > time && found.height > 0) {
    later = found.height
    blocks = 2 * blocks + 1
    found = await blockAt(session, Math.max(0, cursor.height - blocks))
  }
  while (later - found.height > 1) {
    const middle = await blockAt(session, Math.floor((found.height + later) / 2))
    if (middle.time <= time) found = middle
    else later = middle.height
  }
  return found
}
