import { createHash } from 'node:crypto'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { AssetId, InvoiceStatus, NetworkId } from '#shared/domain/enumerations.ts'
import type { AccountChecks, AccountStarts } from '#shared/ports/native-balances.ts'
import type { ObservedTransfer, Payment } from '#shared/ports/payments.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import type { ScanDeps } from '#shared/usecases/scanning/scan-session.ts'

/** An invoice, as far as a scanner sees it. */
export interface BenchInvoice {
  readonly id: string
  readonly matchKey: string
  readonly asset: AssetId
  readonly since: number
  readonly expiresAt: number
  status: InvoiceStatus
  paidAt: number | null
  seenAt: number | null
}

const WAITING: readonly InvoiceStatus[] = ['pending', 'confirming']

/** Anything that the scanner asks beside this has nothing in it. */
const nothing = <T>(known: object): T =>
  new Proxy(known, { get: (own, name) => Reflect.get(own, name) ?? (async () => []) }) as T

const LATE_DAYS = 15
const OLD_DAYS = 2 * 365

/**
 * An index with `old` addresses beside those that are added to it, of invoices that ended at any time of the last two years: they are in
 * memory for the days in which late money counts.
 */
export function createBenchIndex(old: number, now: () => number): WatchIndex {
  const index = createWatchIndex()
  const keyOf = (at: number) => createHash('sha1').update(`old:${at}`).digest('hex')
  return {
    ...index,
    *keys(of) {
      yield* index.keys() as Iterable<string>
      const days = of === 'hot' ? LATE_DAYS : of === undefined ? OLD_DAYS : (now() - of) / 86_400_000
      const count = Math.round((old * Math.min(days, OLD_DAYS)) / OLD_DAYS)
      for (let at = 0; at < count; at += 1) yield keyOf(at)
    },
  }
}

/** Stores in memory, for the real scanner's code on a virtual clock. */
export function createBenchStore(network: NetworkId, now: () => number) {
  const invoices: BenchInvoice[] = []
  const payments = new Map<string, Payment>()
  const checks = new Map<string, AccountChecks>()
  const starts = new Map<string, AccountStarts>()
  const clock = { now }
  const isDue = (one: Payment, { height, finalizedHeight }: { height: number; finalizedHeight: number | null }) =>
    one.state === 'detected' &&
    one.confirmAt !== null &&
    one.confirmAt <= height &&
    (!one.needsFinality || (finalizedHeight !== null && (one.block?.height ?? 0) <= finalizedHeight))
  const all = () => [...payments.values()]
  const set = (matchKey: string, status: InvoiceStatus) => {
    const invoice = invoices.find((one) => one.matchKey === matchKey)
    if (invoice === undefined) return
    invoice.status = status
    invoice.seenAt ??= now()
  }

  async function recordObservations(observations: readonly ObservedTransfer[]) {
    const fresh = observations.filter(({ key }) => !payments.has(key))
    for (const one of fresh) {
      const confirmAt = one.block === null ? null : one.block.height + one.requiredConfirmations - 1
      payments.set(one.key, {
        ...one,
        id: one.key,
        kind: 'onchain',
        state: 'detected',
        confirmAt,
      } as unknown as Payment)
      set(one.matchKey, 'confirming')
    }
    return fresh.map(({ key }) => payments.get(key))
  }

  async function confirmThrough(scope: { height: number; finalizedHeight: number | null }) {
    const due = all().filter((one) => isDue(one, scope))
    for (const one of due) {
      payments.set(one.key, { ...one, state: 'confirmed' })
      set(one.matchKey, 'paid')
    }
    return due
  }

  const inRange = (from: number, to: number) =>
    all().filter(({ block }) => block !== null && block.height >= from && block.height <= to)
  const deps = {
    clock,
    random: { uuid: () => 'bench' },
    logger: nothing({ info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }),
    metrics: { count: () => {}, gauge: () => {}, observe: () => {} },
    notifier: { notify: () => {} },
    catalog: createCatalog({ live: { [network]: { rpcUrls: ['http://localhost'] } }, test: {} }),
    cursors: nothing({ advance: async () => true }),
    commands: nothing({}),
    exceptions: nothing({}),
    wallets: nothing({}),
    balances: {
      find: async (_mode, _network, keys) => keys.flatMap((key) => checks.get(key) ?? []),
      save: async (_mode, _network, rows) => {
        for (const row of rows) checks.set(row.matchKey, row)
      },
      dropChecks: async (_mode, _network, keys) => {
        for (const key of keys) checks.delete(key)
      },
      starts: async (_mode, _network, keys) => keys.flatMap((key) => starts.get(key) ?? []),
      saveStarts: async (_mode, _network, rows) => {
        for (const row of rows) starts.set(row.matchKey, row)
      },
    } satisfies ScanDeps['balances'],
    invoices: nothing({
      watchedMethods: async (_mode: string, _network: string, after: number) =>
        invoices
          .filter(({ expiresAt }) => expiresAt > after)
          .map(({ id, matchKey, since, expiresAt, status }) => {
            const isOpen = WAITING.includes(status)
            const isUnpaid = isOpen && status !== 'confirming'
            return { invoiceId: id, matchKey, since, expiresAt, isOpen, isUnpaid, isListed: false }
          }),
    }),
    payments: nothing({
      recordObservations,
      confirmThrough,
      dueForConfirmation: async (scope: { height: number; finalizedHeight: number | null }) =>
        all().filter((one) => isDue(one, scope)),
      listInBlocks: async (scope: {
        assets: readonly AssetId[]
        matchKeys: readonly string[]
        from: number
        to: number
      }) =>
        inRange(scope.from, scope.to).filter(
          ({ asset, matchKey }) => asset !== null && scope.assets.includes(asset) && scope.matchKeys.includes(matchKey),
        ),
      listNonCanonical: async ({
        from,
        blocks,
      }: {
        from: number
        blocks: readonly { height: number; hash: string }[]
      }) => {
        const hashes = blocks.map(({ hash }) => hash)
        const to = Math.max(...blocks.map(({ height }) => height))
        return inRange(from, to).filter(({ block }) => !hashes.includes(block?.hash ?? ''))
      },
      findByKeys: async (keys: readonly string[]) => keys.flatMap((key) => payments.get(key) ?? []),
    }),
  }
  return { deps: deps as unknown as ScanDeps, invoices, payments }
}
