import type { Request, Response } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { idOf } from './answers.ts'
import { type LimitDeps, payerOf, TooMany } from './limits.ts'
import type { LiveFeed, LiveView } from './live-feed.ts'

/** Connections of one address and of the whole process; a page without one polls. */
const { perOwner: PER_PAYER_MAX, total: CONNECTIONS_MAX } = SCARCE.checkoutStreams.budget
/** After this time a page reconnects, maybe to another process. */
const LIFE_MS = 15 * 60_000
/** A reader this far behind is disconnected. */
const BACKLOG_BYTES_MAX = 256 * 1_024
const FULL_RETRY_S = 30

/** Open connections to pages that watch an invoice. */
export interface LiveStreams {
  serve(request: Request, response: Response): Promise<void>
  /** Closes every connection; the pages reconnect automatically. */
  close(): void
}

/** Streams of views as server-sent events: `view` with an id of its content, and `ping` about every 4 s: the store was read, and nothing else changed. */
export function createLiveStreams(
  deps: Pick<LimitDeps, 'config'> & { readonly clock: Clock; readonly feed: LiveFeed },
): LiveStreams {
  const open = new Set<Response>()
  const perPayer = new Map<string, number>()

  function enter(payer: string): void {
    const count = perPayer.get(payer) ?? 0
    if (count >= PER_PAYER_MAX || open.size >= CONNECTIONS_MAX) throw new TooMany(FULL_RETRY_S)
    perPayer.set(payer, count + 1)
  }

  function leave(payer: string): void {
    const count = (perPayer.get(payer) ?? 1) - 1
    if (count === 0) perPayer.delete(payer)
    else perPayer.set(payer, count)
  }

  return {
    async serve(request, response) {
      const id = idOf(request)
      const payer = payerOf(deps, request)
      enter(payer)
      const write = (text: string): void => {
        if (response.writableLength > BACKLOG_BYTES_MAX) response.destroy()
        else if (!response.writableEnded && !response.destroyed) response.write(text)
      }
      const show = ({ tag, json }: LiveView) =>
        write(`id: ${tag}\nevent: view\ndata: {"now":${deps.clock.now()},"view":${json}}\n\n`)
      const ping = () => write(`event: ping\ndata: {"now":${deps.clock.now()}}\n\n`)
      // Views that arrive before the head is written would be lost or sent too early.
      let latest: LiveView | null = null
      let isStarted = false
      const watching = await deps.feed
        .watch(
          id,
          (view) => {
            if (isStarted) show(view)
            else latest = view
          },
          () => {
            if (isStarted) ping()
          },
          // The page connects again, and reads that the invoice is unknown.
          () => {
            if (isStarted) response.end()
          },
        )
        .catch((error: unknown) => {
          leave(payer)
          throw error
        })
      if (watching === null || response.destroyed) {
        watching?.stop()
        leave(payer)
        if (watching === null) throw new PaymeshError('NOT_FOUND')
        return
      }
      open.add(response)
      const timer = setTimeout(() => response.end(), LIFE_MS)
      response.once('close', () => {
        clearTimeout(timer)
        watching.stop()
        open.delete(response)
        leave(payer)
      })
      response.status(200).set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
      response.flushHeaders()
      write('retry: 2000\n\n')
      const now: LiveView = latest ?? watching.now
      if (request.get('last-event-id') === now.tag) ping()
      else show(now)
      isStarted = true
    },
    close() {
      for (const response of open) response.end()
    },
  }
}
