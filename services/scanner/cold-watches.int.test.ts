import { expect, it, vi } from 'vitest'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createColdWatches, createHotWatches } from '#shared/usecases/watches/cold-watches.ts'
import { packWatches } from '#shared/usecases/watches/pack-watches.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { deepTest } from '#test/support/depth.ts'
import { CONFIRMATIONS, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const YEAR_MS = 365 * 86_400_000
const STRANGER = `0x${'5a'.repeat(20)}`
const stores = useStores()
const stage = useScanStage(stores)

/** An invoice at the watched address that expired long ago by the clock of the job, which packs its address. */
async function packWatched(): Promise<string> {
  const repositories = createRepositories(stores.db, stores.runtime)
  const at = Date.now()
  const paymentMethod = { ...samplePaymentMethod(WATCHED.matchKey, at), address: WATCHED.address }
  const state = {
    status: 'expired',
    paymentMethods: [paymentMethod],
    expiresAt: at + 1_200_000,
    nextActionAt: null,
  } as const
  const invoice = sampleInvoice(stores.runtime.random, { at, number: 1, state })
  await repositories.invoices.insert(invoice)
  const clock = { now: () => Date.now() + YEAR_MS }
  expect(await packWatches({ ...repositories, random: stores.runtime.random, clock }, new Map())).toBe(1)
  return invoice.terms.id
}

const untilMarked = () =>
  vi.waitFor(async () => {
    const [address] = await stage.deps.wallets.findAddresses('test', 'evm', [WATCHED.matchKey])
    expect(address?.watchedOn).toEqual(['ethereum'])
  }, 8_000)

const payLate = async () => {
  await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 7n })
  await stage.chain.pay({ asset: 'eth_ethereum', to: WATCHED.address, amountBase: 9n })
  await stage.chain.mine(CONFIRMATIONS)
}
const BOTH = [{ state: 'confirmed' }, { state: 'confirmed' }]

// Guarantee: late money on an old address is found at once, by a scanner that does not have the address in memory.
it('finds late money on an address that was packed a year after its invoice', async () => {
  const first = stage.scan()
  await untilMarked()
  await first.stop()
  const invoiceId = await packWatched()
  const source = stage.source()
  const sizes: number[] = []
  const createIndex = () => {
    const index = source.createIndex()
    const { has } = index
    return Object.assign(Object.create(index) as typeof index, {
      has: (matchKey: string) => {
        sizes.push(index.size)
        return has(matchKey)
      },
    })
  }
  stage.scan({ ...source, createIndex })
  await payLate()
  await stage.untilPayments(BOTH)
  expect(Math.max(...sizes)).toBe(0)
  const stored = await stores.db.connection.collection('payments').find().toArray()
  expect(new Set(stored.map((row) => row['invoiceId']))).toEqual(new Set([invoiceId]))
})

it('finds it as well when the address is packed while it scans', async () => {
  stage.scan()
  await untilMarked()
  await packWatched()
  await payLate()
  await stage.untilPayments(BOTH)
})

deepTest('finds it by the weekly look of a thrifty scanner, and in the blocks that it reads', async () => {
  const first = stage.scan()
  await untilMarked()
  await first.stop()
  await packWatched()
  stage.scan(stage.source({ thrifty: briskPace({ endedLookMs: Number.POSITIVE_INFINITY, weekLookMs: 200 }) }))
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), 8_000)
  await payLate()
  // Looks end at blocks that no reorganisation reaches.
  await stage.chain.mine(70)
  await stage.untilPayments([{}, {}])
})

// Guarantee: an attack with transfers that the filter takes for ours stores nothing, and costs one question for each thousand of them.
it('stores no transfer to a stranger that the filter takes for ours', async () => {
  const requests: (readonly string[])[] = []
  const { wallets, watchPacks } = createRepositories(stores.db, stores.runtime)
  const cold = createColdWatches(
    {
      watchPacks,
      wallets: {
        ...wallets,
        findAddresses: (mode, family, matchKeys) => {
          requests.push(matchKeys)
          return wallets.findAddresses(mode, family, matchKeys)
        },
      },
    },
    'test',
    'evm',
  )
  const fooled = { ...cold, mayHold: () => true, refresh: cold.refresh }
  stage.scan(stage.source({ createIndex: () => createHotWatches(createWatchIndex, fooled) }))
  await untilMarked()
  const before = requests.length
  for (let sent = 0; sent < 20; sent += 1) {
    await stage.chain.pay({ asset: 'usdt_ethereum', to: STRANGER, amountBase: BigInt(sent + 1) })
  }
  await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 8n })
  await stage.chain.mine(CONFIRMATIONS)
  await stage.untilPayments([{ state: 'confirmed', amount: '8' }])
  const height = await stage.height()
  await stage.untilHeight(height)
  expect(await stage.payments()).toHaveLength(1)
  expect(requests.length - before).toBeLessThanOrEqual(height + 1)
  expect(requests.flat()).toContain(STRANGER.slice(2))
})

it('does not move its cursor past a block whose doubtful transfers it could not check', async () => {
  const { wallets, watchPacks } = createRepositories(stores.db, stores.runtime)
  let isDown = true
  let refused = 0
  const cold = createColdWatches(
    {
      watchPacks,
      wallets: {
        ...wallets,
        findAddresses: async (...args) => {
          if (isDown) {
            refused += 1
            throw new Error('the store does not respond')
          }
          return wallets.findAddresses(...args)
        },
      },
    },
    'test',
    'evm',
  )
  const first = stage.scan()
  await untilMarked()
  await first.stop()
  await packWatched()
  const before = (await stage.cursor())?.height ?? 0
  stage.scan(stage.source({ createIndex: () => createHotWatches(createWatchIndex, cold) }))
  await payLate()
  await vi.waitFor(() => expect(refused).toBeGreaterThan(1), { timeout: 8_000 })
  expect((await stage.cursor())?.height).toBe(before)
  expect(await stage.payments()).toEqual([])
  isDown = false
  await stage.untilPayments(BOTH)
})
