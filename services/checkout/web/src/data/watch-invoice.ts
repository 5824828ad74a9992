import type { AssetOptionsView, InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { lastingOf, meaningOf, type Problem } from '../format/problem-text.ts'
import { OFFLINE, request } from './request.ts'

const TICK_MS = 1_000
/** The server sends a message at least every 4 s, each after it has read the store; after this long without one the page asks itself. */
const QUIET_MS = 5_500
/** After this long without an answer of either way the page says that it has lost the connection. */
const LOST_MS = 8_500
/** After this long the line is dead, whatever the browser reports, and another one is opened. */
const DEAD_MS = 20_000
const POLL_EVERY_MS = 5_000
/** After the server refused a connection, the page only polls for this long. */
const REFUSED_PAUSE_MS = 60_000
/** The id may be known again, after a restore for instance: the page goes on asking, this often. */
const UNKNOWN_PAUSE_MS = 60_000
/** Clocks differ by the time that a message takes, and by a second where a header says it. */
const CLOCK_STEP_MS = 3_000
/** Returning to the page within this time needs no request. */
const FRESH_MS = 2_000

/** The page's state of an invoice. */
export interface PageState {
  readonly view: InvoiceView | null
  /** Difference between the store's and the device's clock, milliseconds. */
  readonly offset: number
  /** Why nothing newer than the view was read, or nothing at all, or that the id is unknown; null while the page is up to date. */
  readonly away: Problem | null
  /** The coins of an invoice without one, as they came with its first read. */
  readonly options: AssetOptionsView | null
}

/** An invoice that is kept up to date. */
export interface InvoiceWatch {
  /** Takes over the view of another response of the server. */
  accept(view: InvoiceView, now: number): void
  refresh(): Promise<void>
  stop(): void
}

interface ViewResponse {
  readonly now: number
  readonly view: InvoiceView
  readonly options?: AssetOptionsView
}

/**
 * Keeps an invoice up to date: with a connection from the server, by polling without one, and with a request at once when the page
 * returns from the background, from memory or from being offline. Timers of a sleeping device do not fire; when it wakes, the
 * gap shows in its clock and the connection is opened again.
 */
export function watchInvoice(id: string, tell: (state: PageState) => void): InvoiceWatch {
  let state: PageState = { view: null, offset: 0, away: null, options: null }
  let source: EventSource | null = null
  /** When anything was read, and when the line said something or was opened. */
  let heardAt = Date.now()
  let lineAt = Date.now()
  let polledAt = 0
  /** Why the last read failed; null after one that did not. */
  let problem: Problem | null = null
  /** The server asked not to be asked again before. */
  let waitUntil = 0
  let refusedUntil = 0
  let tag: string | null = null
  let reading: Promise<void> | null = null
  let lookedAt = Date.now()
  let stopped = false

  function change(part: Partial<PageState>): void {
    state = { ...state, ...part }
    if (!stopped) tell(state)
  }

  function heard(): void {
    heardAt = Date.now()
    problem = null
    if (state.away !== null) change({ away: null })
  }

  /** The device's clock may be set while the page is open: what it shows as the deadline follows the store's. */
  function follow(now: number): void {
    if (Math.abs(now - Date.now() - state.offset) > CLOCK_STEP_MS) change({ offset: now - Date.now() })
  }

  function accept(view: InvoiceView, now: number): void {
    heard()
    // Responses may overtake each other: an older one than the page's own state is ignored.
    if (state.view !== null && view.version < state.view.version) return
    change({ view, offset: now - Date.now() })
  }

  function refresh(): Promise<void> {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }

  async function read(): Promise<void> {
    polledAt = Date.now()
    // The first read is the one that the document's header requests too (services/checkout/pages.ts).
    const answer = await request<ViewResponse>(`/i/${id}${state.view === null ? '?coins' : ''}`, 'view', { tag })
    if (answer.ok) {
      tag = answer.tag
      if (answer.data.options !== undefined) change({ options: answer.data.options })
      accept(answer.data.view, answer.data.now)
    } else if (answer.now !== undefined) {
      heard()
      follow(answer.now)
    } else lose(answer.problem)
  }

  /** A page that shows something says so after a while only: most gaps are short. */
  function lose(why: Problem): void {
    problem = lastingOf(state.away, why)
    const meaning = meaningOf(why)
    if (meaning === 'busy') waitUntil = Date.now() + (why.retryAfter ?? 0) * 1_000
    if (meaning === 'unknown') waitUntil = Date.now() + UNKNOWN_PAUSE_MS
    if (meaning === 'unknown' || state.view === null || Date.now() - heardAt > LOST_MS) change({ away: problem })
  }

  function connect(): void {
    disconnect()
    if (stopped || state.view === null || Date.now() < refusedUntil) return
    const line = new EventSource(`/api/i/${id}/live`)
    source = line
    lineAt = Date.now()
    line.addEventListener('view', (event) => {
      lineAt = Date.now()
      const { now, view } = JSON.parse(event.data) as ViewResponse
      accept(view, now)
    })
    line.addEventListener('ping', (event) => {
      lineAt = Date.now()
      // It says that the store was read, not that the invoice is there.
      if (state.away !== null && meaningOf(state.away) === 'unknown') return
      heard()
      follow((JSON.parse(event.data) as Pick<ViewResponse, 'now'>).now)
    })
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
    const now = Date.now()
    // A clock that was set back measures no time since: everything may be old.
    if (now < lookedAt) {
      heardAt = lineAt = polledAt = now - POLL_EVERY_MS
      waitUntil = refusedUntil = 0
    }
    lookedAt = now
    const isDead = source === null || source.readyState === EventSource.CLOSED
    if (now - lineAt > DEAD_MS || (isDead && now >= refusedUntil)) connect()
    if (document.visibilityState !== 'visible') return
    const isQuiet = !isLive() || now - lineAt > QUIET_MS
    if (isQuiet && now - polledAt >= POLL_EVERY_MS && now >= waitUntil) void refresh()
    // A device that wakes up has asked just now: its answer may be under way.
    const isRequested = polledAt > heardAt && now - polledAt >= LOST_MS - QUIET_MS - TICK_MS
    if (isRequested && now - heardAt > LOST_MS && state.away === null) change({ away: problem ?? OFFLINE })
  }

  function comeBack(): void {
    if (document.visibilityState !== 'visible' || Date.now() - heardAt < FRESH_MS) return
    void refresh()
    if (!isLive() || Date.now() - lineAt > QUIET_MS) connect()
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
