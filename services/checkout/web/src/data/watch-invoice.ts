import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { ask } from './ask.ts'

/** The server sends a message every 15 s; after this long without one the connection is dead, whatever the browser reports. */
const SILENCE_MS = 40_000
const TICK_MS = 2_500
const POLL_EVERY_MS = 5_000
/** After the server refused a connection, the page only polls for this long. */
const REFUSED_PAUSE_MS = 60_000
/** Returning to the page within this time needs no request. */
const FRESH_MS = 2_000
/** Shorter gaps are not reported. */
const OFFLINE_AFTER_MS = 5_000

/** The page's state of an invoice. */
export interface Watched {
  readonly view: InvoiceView | null
  /** Difference between the store's and the device's clock, milliseconds. */
  readonly offset: number
  readonly isMissing: boolean
  /** Nothing could be read yet. */
  readonly hasFailed: boolean
  readonly isOffline: boolean
}

/** An invoice that is kept up to date. */
export interface InvoiceWatch {
  /** Takes over the view of another response of the server. */
  accept(view: InvoiceView, now: number): void
  refresh(): Promise<void>
  stop(): void
}

interface Shown {
  readonly now: number
  readonly view: InvoiceView
}

/**
 * Keeps an invoice up to date: with a connection from the server, by polling without one, and with a request at once when the page
 * returns from the background, from memory or from being offline. Timers of a sleeping device do not fire; when it wakes, the
 * gap shows in its clock and the connection is opened again.
 */
export function watchInvoice(id: string, tell: (state: Watched) => void): InvoiceWatch {
  let state: Watched = { view: null, offset: 0, isMissing: false, hasFailed: false, isOffline: false }
  let source: EventSource | null = null
  let heardAt = 0
  let polledAt = 0
  let refusedUntil = 0
  let tag: string | null = null
  let asking: Promise<void> | null = null
  let stopped = false

  function change(part: Partial<Watched>): void {
    state = { ...state, ...part }
    if (!stopped) tell(state)
  }

  function heard(): void {
    heardAt = Date.now()
    if (state.isOffline) change({ isOffline: false })
  }

  function accept(view: InvoiceView, now: number): void {
    heard()
    // Responses may overtake each other: an older one than the page's own state is ignored.
    if (state.view !== null && view.version < state.view.version) return
    change({ view, offset: now - Date.now(), isMissing: false, hasFailed: false })
  }

  function refresh(): Promise<void> {
    asking ??= read().finally(() => {
      asking = null
    })
    return asking
  }

  async function read(): Promise<void> {
    polledAt = Date.now()
    const answer = await ask<Shown>(`/i/${id}`, { tag })
    if (answer.ok) {
      tag = answer.tag
      accept(answer.data.view, answer.data.now)
    } else if (answer.unchanged === true) heard()
    else if (answer.problem.status === 404 && state.view === null) change({ isMissing: true })
    else if (state.view === null) change({ hasFailed: true })
    else if (Date.now() - heardAt > OFFLINE_AFTER_MS) change({ isOffline: answer.problem.status === 0 })
  }

  function connect(): void {
    disconnect()
    if (stopped || state.isMissing || Date.now() < refusedUntil) return
    const line = new EventSource(`/api/i/${id}/live`)
    source = line
    line.addEventListener('view', (event) => {
      const { now, view } = JSON.parse(event.data) as Shown
      accept(view, now)
    })
    line.addEventListener('ping', heard)
    line.addEventListener('error', () => {
      if (line.readyState === EventSource.CLOSED) refusedUntil = Date.now() + REFUSED_PAUSE_MS
    })
  }

  function disconnect(): void {
    source?.close()
    source = null
  }

  const isLive = (): boolean => source !== null && source.readyState === EventSource.OPEN

  function look(): void {
    if (state.isMissing) return
    const silent = Date.now() - heardAt
    const isDead = source === null || source.readyState === EventSource.CLOSED
    if (silent > SILENCE_MS || (isDead && Date.now() >= refusedUntil)) connect()
    if (!isLive() && document.visibilityState === 'visible' && Date.now() - polledAt >= POLL_EVERY_MS) void refresh()
    if (!navigator.onLine && silent > OFFLINE_AFTER_MS && !state.isOffline) change({ isOffline: true })
  }

  function comeBack(): void {
    if (document.visibilityState !== 'visible' || Date.now() - heardAt < FRESH_MS) return
    void refresh()
    if (!isLive() || Date.now() - heardAt > SILENCE_MS / 2) connect()
  }

  const signals = [
    [document, 'visibilitychange'],
    [document, 'resume'],
    [window, 'pageshow'],
    [window, 'online'],
    [window, 'focus'],
  ] as const
  for (const [target, name] of signals) target.addEventListener(name, comeBack)
  const timer = setInterval(look, TICK_MS)
  void refresh().then(connect)

  return {
    accept,
    refresh,
    stop() {
      stopped = true
      clearInterval(timer)
      disconnect()
      for (const [target, name] of signals) target.removeEventListener(name, comeBack)
    },
  }
}
