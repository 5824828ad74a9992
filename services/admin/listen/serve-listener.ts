import { once } from 'node:events'
import type { Request, Response } from 'express'
import type { AdminDeps } from '#services/admin/assemble.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { EventType } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { HistoryLost, type StoredEvent } from '#shared/ports/event-stream.ts'
import { type KeyAccess, recheckKey } from './authorise-key.ts'
import { type Letter, type ListenFollower, UNREAD_MAX } from './listen-hub.ts'

/** A revoked key, a suspended workspace and a lost scope end a stream within this long. */
const RECHECK_MS: Ms = 2_000
/** A listener that accepts nothing for this long is cut off. */
const STALL_MS: Ms = 30_000

/** One listener: the rights of its key, the types it wants, and its connection. */
interface ListenRequest {
  readonly access: KeyAccess
  readonly types: ReadonlySet<EventType>
  readonly request: Request
  readonly response: Response
}

/**
 * Streams events to one listener until either side ends it, starting at `Last-Event-ID` if given. Messages by name:
 * `ready` once everything stored from now on will follow; `event`, whose data is the body of a delivery; `resend`, the same for an event
 * that somebody had delivered once more; `place`, which only moves the id;
 * `gap`, when the history no longer reaches back to the given id; `end` with an error, when the key may no longer listen.
 * Throws before the answer began: `RATE_LIMITED` for too many streams, or too many that read the history.
 */
export async function serveListener(deps: AdminDeps, listening: ListenRequest): Promise<void> {
  const { access, request, response } = listening
  const from = request.get('last-event-id') ?? null
  const places = takePlaces(deps, access.workspace.id, from !== null)
  const cut = new AbortController()
  response.once('close', () => cut.abort())
  // Who hung up while the key was read closed it before.
  if (response.destroyed) cut.abort()
  const follower = deps.listen.hub.follow({ workspaceId: access.workspace.id, mode: access.key.mode })
  try {
    const through = await follower.ready
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    })
    await stream(deps, { ...listening, follower, from, through, cut: cut.signal, leaveHistory: places.leaveHistory })
  } catch (error) {
    if (!response.headersSent) throw error
    const known = error instanceof PaymeshError ? error : null
    if (known === null) deps.logger.warn({ err: error }, 'a stream of events was interrupted')
    else response.write(message('end', JSON.stringify({ code: known.code, message: known.message })))
  } finally {
    follower.leave()
    places.leaveHistory()
    places.leaveStream()
    // Before it began, the answer is the caller's error.
    if (response.headersSent) response.end()
  }
}

/** A place among the streams and, for a listener that says where it was, one among those that read the history; both or none. */
function takePlaces({ listen }: AdminDeps, workspaceId: string, readsHistory: boolean) {
  const leaveStream = listen.slots.enter(workspaceId)
  try {
    return { leaveStream, leaveHistory: readsHistory ? listen.catchUps.enter(workspaceId) : () => undefined }
  } catch (error) {
    leaveStream()
    throw error
  }
}

interface OpenStream extends ListenRequest {
  readonly follower: ListenFollower
  readonly from: string | null
  /** A position up to which everything is in the history, and after which everything comes from the follower. */
  readonly through: string
  readonly cut: AbortSignal
  /** Gives the place among those that read the history back; more often than once changes nothing. */
  leaveHistory(): void
}

async function stream(deps: AdminDeps, open: OpenStream): Promise<void> {
  const { access, types, follower, cut } = open
  const { workspaceId, mode } = access.key
  const write = createWriter(deps, open)
  // Those that wait for this listener may be the last of the history too; there are no more of them than may wait.
  const sent = createRecentIds(UNREAD_MAX)
  const sendEvent = async ({ id, type, place, resent }: StoredEvent): Promise<void> => {
    if (!types.has(type) || sent.has(resent ? place : id)) return
    const body = (await deps.money.events.findByIds([id])).get(id)?.body
    if (body !== undefined) await write(message(resent ? 'resend' : 'event', new TextDecoder().decode(body), place))
  }
  await write(message('ready', JSON.stringify({ workspace_id: workspaceId, mode, events: [...types] })))
  if (open.from !== null) {
    for await (const event of history(deps, open.from, open.through, write)) {
      if (cut.aborted) return
      if (event.workspaceId !== workspaceId || event.mode !== mode) continue
      await sendEvent(event)
      sent.add(event.resent ? event.place : event.id)
    }
    open.leaveHistory()
  }
  while (!cut.aborted) {
    const letter: Letter | null = await follower.next(RECHECK_MS, cut)
    if (letter?.kind === 'cut') return
    if (letter?.kind === 'place') await write(message('place', '{}', letter.place))
    else if (letter?.kind === 'event') await sendEvent(letter.event)
    else await write('')
  }
}

/** Events stored meanwhile. If the history does not reach back far enough, it reports the gap and begins now. */
async function* history(
  deps: AdminDeps,
  from: string,
  through: string,
  write: (text: string) => Promise<void>,
): AsyncIterable<StoredEvent> {
  try {
    yield* deps.listen.stream.since(from, through)
  } catch (error) {
    if (!(error instanceof HistoryLost)) throw error
    await write(message('gap', '{}', through))
  }
}

/**
 * Writes, and waits while the listener does not read. Checks the key again whenever the last check is too old: before
 * it writes, so that nothing is sent to a key after its revocation.
 */
function createWriter(deps: AdminDeps, { access, response, cut }: OpenStream) {
  let checkedAt = deps.clock.now()
  const check = async (): Promise<void> => {
    const sinceMs = deps.clock.now() - checkedAt
    if (sinceMs >= 0 && sinceMs < RECHECK_MS) return
    await recheckKey(deps, access.key.hash, ['webhooks:manage'])
    checkedAt = deps.clock.now()
  }
  return async (text: string): Promise<void> => {
    await check()
    if (text === '' || response.write(text)) return
    const since = deps.clock.now()
    while (response.writableNeedDrain && !cut.aborted) {
      if (deps.clock.now() - since > STALL_MS) throw new Error('the listener does not read')
      const patience = AbortSignal.any([cut, AbortSignal.timeout(RECHECK_MS)])
      await once(response, 'drain', { signal: patience }).catch(() => undefined)
      await check()
    }
  }
}

function message(name: string, data: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`
}

/** Remembers the last `max` ids that were added, and no more, however many are. */
export function createRecentIds(max: number) {
  const ids = new Set<string>()
  return {
    add(id: string): void {
      ids.add(id)
      if (ids.size <= max) return
      for (const oldest of ids) {
        ids.delete(oldest)
        return
      }
    },
    has: (id: string): boolean => ids.has(id),
  }
}
