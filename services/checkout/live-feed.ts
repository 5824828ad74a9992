import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { type InvoiceStatus, networkOf } from '#shared/domain/enumerations.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { tagOf } from './answers.ts'

/** How often the store is polled for changes: three queries, however many people watch. */
const POLL_EVERY_MS = 1_000
/** Turns between two beats: signs for the watchers that the store was read. */
const BEAT_EVERY = 4
/** Without a read of the store for this long, a view that is kept is no proof of anything. */
const CURRENT_MS = 5_000
/** Turns between two wake-ups of a scanner whose pages are watched; it assumes a page to be open for three times as long. */
const ATTEND_EVERY = 5
/** Views that are rebuilt concurrently, and at most in one turn: this bounds a turn; which ones wait for the next turn is {@link nextViews}. */
const MAKERS = 8
const REMADE_MAX = 200
/** How many of them are kept for invoices that changed, while a new block changes the others. */
const REMADE_CHANGED = REMADE_MAX / 2

/** Money, or its confirmation, is still expected. */
const OPEN: ReadonlySet<InvoiceStatus> = new Set(['pending', 'partial', 'confirming'])

/** The current view of an invoice. `tag` identifies its content. */
export interface LiveView {
  readonly tag: string
  readonly json: string
}

interface Listener {
  show(view: LiveView): void
  beat(): void
  end(): void
}

interface Topic {
  readonly listeners: Set<Listener>
  version: number
  /** `<mode>-<network>` where money, or its confirmation, is expected; null when none is. */
  attended: string | null
  /** `<mode>:<network>` whose height is shown in the view; null when none is. */
  chain: string | null
  height: number | null
  /** Announced transactions that were stored when the view was made; they change no version. */
  hints: number
  /** The turn in which the view was last rebuilt, or tried. */
  remadeIn: number
  view: LiveView
}

/** Reads of the feed. */
export type LiveFeedDeps = Uses<'versions' | 'hints' | 'cursors' | 'logger' | 'metrics'> & {
  /** The view of an invoice; null when it is unknown. */
  readonly view: (invoiceId: string) => Promise<InvoiceView | null>
  /** Wakes the scanner of `<mode>-<network>`, because somebody watches a page that waits for money there. */
  readonly attend?: (id: string) => void
  readonly pollEveryMs?: number
}

/** Notifies watchers of invoices about changes. */
export interface LiveFeed {
  /**
   * Calls `show` with each new view, `beat` about every 4 s: the store was read, whatever changed, and `end` when the invoice is unknown. Resolves with the present view, which was read within the last seconds, and a
   * function that stops watching; null for an unknown invoice. Rejects, or waits, while the store cannot be read.
   */
  watch(
    invoiceId: string,
    show: Listener['show'],
    beat?: Listener['beat'],
    end?: Listener['end'],
  ): Promise<{ readonly now: LiveView; stop(): void } | null>
  /** Ends the feed; no listener is called any more. */
  close(): void
}

/** One poll of a process for all watchers; nothing is read without a watcher. */
export function createLiveFeed(deps: LiveFeedDeps): LiveFeed {
  const watched = new Map<string, Topic>()
  const opening = createSingleFlight<Topic | null>()
  let timer: NodeJS.Timeout | null = null
  let closed = false
  let turns = 0
  let readAt = performance.now()

  async function open(invoiceId: string): Promise<Topic | null> {
    const known = watched.get(invoiceId)
    if (known !== undefined && performance.now() - readAt < CURRENT_MS) return known
    const view = await deps.view(invoiceId)
    readAt = performance.now()
    if (view === null) return null
    // The next turn brings it up to date, for all who watch it.
    if (known !== undefined) return known
    const hints = view.hints.length
    const entry: Topic = { listeners: new Set(), ...addressStanding(view), height: null, hints, remadeIn: turns }
    watched.set(invoiceId, entry)
    schedule()
    return entry
  }

  function schedule(): void {
    if (timer !== null || closed || watched.size === 0) return
    timer = setTimeout(() => void turn(), deps.pollEveryMs ?? POLL_EVERY_MS)
  }

  async function turn(): Promise<void> {
    try {
      if (turns % ATTEND_EVERY === 0) attend(deps, watched)
      turns += 1
      await look(deps, watched, turns, () => {
        readAt = performance.now()
        if (turns % BEAT_EVERY === 0)
          for (const { listeners } of watched.values()) for (const one of listeners) one.beat()
      })
    } catch (error) {
      deps.metrics.count('checkout_live_failed_total')
      deps.logger.warn({ error }, 'changes for watchers could not be read')
    }
    timer = null
    schedule()
  }

  return {
    async watch(invoiceId, show, beat = () => undefined, end = () => undefined) {
      const listener = { show, beat, end }
      const entry = await opening(invoiceId, () => open(invoiceId))
      if (entry === null || closed) return null
      // Another watcher may have left meanwhile, and removed the entry.
      if (!watched.has(invoiceId)) watched.set(invoiceId, entry)
      schedule()
      entry.listeners.add(listener)
      return {
        now: entry.view,
        stop: () => {
          entry.listeners.delete(listener)
          if (entry.listeners.size === 0 && watched.get(invoiceId) === entry) watched.delete(invoiceId)
        },
      }
    },
    close() {
      closed = true
      if (timer !== null) clearTimeout(timer)
      watched.clear()
    },
  }
}

/** Each network once, however many people watch. */
function attend({ attend: wake }: LiveFeedDeps, watched: ReadonlyMap<string, Topic>): void {
  if (wake === undefined) return
  for (const id of new Set([...watched.values()].flatMap(({ attended }) => attended ?? []))) wake(id)
}

/** Three queries to the store, and new views of the changed invoices. */
async function look(
  deps: LiveFeedDeps,
  watched: ReadonlyMap<string, Topic>,
  turn: number,
  onRead: () => void,
): Promise<void> {
  const topics = [...watched]
  const ids = topics.map(([id]) => id)
  const waits = topics.some(([, { chain }]) => chain !== null)
  const open = topics.flatMap(([id, { attended }]) => (attended === null ? [] : [id]))
  const [versions, cursors, hints] = await Promise.all([
    deps.versions.versionsOf(ids),
    waits ? deps.cursors.list() : Promise.resolve([]),
    open.length === 0 ? new Map<string, number>() : deps.hints.countsOf(open),
  ])
  onRead()
  const heights = new Map(cursors.map(({ id, height }) => [id, height]))
  const isNewer = ([id, { version }]: Entry): boolean => versions.get(id) !== version
  const changed = topics.filter((one) => {
    const [id, entry] = one
    const height = entry.chain === null ? null : (heights.get(entry.chain) ?? null)
    const isAnnounced = entry.attended !== null && (hints.get(id) ?? 0) !== entry.hints
    return isNewer(one) || height !== entry.height || isAnnounced
  })
  const chosen = nextViews(changed, isNewer)
  deps.metrics.gauge('checkout_watched_invoices', watched.size)
  deps.metrics.gauge('checkout_live_waiting_views', changed.length - chosen.length)
  const queue = chosen.values()
  const make = async (): Promise<void> => {
    for (const [id, entry] of queue) {
      // Before the view is read: one that cannot be read is not the first of the next turn too.
      entry.remadeIn = turn
      await remake(deps, [id, entry], heights, hints)
    }
  }
  await Promise.all(Array.from({ length: MAKERS }, make))
}

type Entry = readonly [string, Topic]

/**
 * The views to rebuild in this turn: those that waited longest, with a share for invoices that changed themselves. So however many change in
 * each turn, every one of them is rebuilt after as many turns as the crowd fills.
 */
function nextViews(changed: readonly Entry[], isNewer: (entry: Entry) => boolean): readonly Entry[] {
  const waiting = [...changed].sort(([, a], [, b]) => a.remadeIn - b.remadeIn)
  const first = waiting.filter(isNewer).slice(0, REMADE_CHANGED)
  return [...new Set([...first, ...waiting])].slice(0, REMADE_MAX)
}

async function remake(
  deps: LiveFeedDeps,
  [id, entry]: Entry,
  heights: ReadonlyMap<string, number>,
  hints: ReadonlyMap<string, number>,
): Promise<void> {
  const view = await deps.view(id)
  if (view === null) {
    for (const listener of entry.listeners) listener.end()
    return
  }
  const before = entry.view.tag
  const { version, chain, attended, view: made } = addressStanding(view)
  Object.assign(entry, {
    version,
    chain,
    attended,
    view: made,
    hints: hints.get(id) ?? 0,
    height: chain === null ? null : (heights.get(chain) ?? null),
  })
  if (made.tag === before) return
  for (const listener of entry.listeners) listener.show(made)
}

function addressStanding(view: InvoiceView): Pick<Topic, 'version' | 'chain' | 'attended' | 'view'> {
  const json = JSON.stringify(view)
  const waits = view.paymentMethod !== null && view.payments.some(({ state }) => state === 'detected')
  const chain = waits && view.paymentMethod !== null ? `${view.mode}:${networkOf(view.paymentMethod.asset)}` : null
  const isOpen = view.paymentMethod !== null && OPEN.has(view.status)
  const attended = isOpen && view.paymentMethod !== null ? `${view.mode}-${networkOf(view.paymentMethod.asset)}` : null
  return { version: view.version, chain, attended, view: { tag: tagOf(json), json } }
}
