import { beforeAll, expect, it, vi } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import type { ScanDeps } from '#shared/usecases/scanning/scan-session.ts'
import type { ThriftyPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { sampleOf } from '#test/support/depth.ts'
import { signedTransfer, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'
import { anotherChain } from '#test/support/worker-chain.ts'

const PATIENCE = { timeout: 60_000, interval: 20 }
const HOUR_MS = 3_600_000
/** Deeper than every reorganisation of these tests; anvil calls blocks final that are 64 below its head. */
const FINALITY_DEPTH = 65

// Replaced blocks get the time that a node was moved to, by other files too: this one has its own node.
beforeAll(async () => {
  await anotherChain()
})

const stores = useStores()
const stage = useScanStage(stores)

async function waitForTokens(endsAt = Date.now() + HOUR_MS) {
  const at = Date.now()
  const paymentMethod = {
    ...samplePaymentMethod(WATCHED.matchKey, at, { asset: 'usdt_ethereum' }),
    address: WATCHED.address,
  }
  const state = { paymentMethods: [paymentMethod], status: 'pending' as const, expiresAt: endsAt, nextActionAt: endsAt }
  await createInvoiceRepository(stores.db).insert(sampleInvoice(stores.runtime.random, { at, number: 1, state }))
}

function nodeClient() {
  const node = { rpcUrls: [stage.chain.url], chainId: 31_337 }
  const client = createChainClient({ live: {}, test: { ethereum: node } }, 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  return client
}

function thrifty(
  change: Partial<ThriftyPace> = {},
  more: { readonly client?: ChainClient; readonly batchMax?: number } = {},
  deps: Partial<ScanDeps> = {},
) {
  const source = { client: nodeClient(), finalityDepth: FINALITY_DEPTH, thrifty: briskPace(change), ...more }
  return stage.scan(stage.source(source), deps)
}

/** A node that keeps no balances of older blocks, as most rented ones do. */
function withoutOldBalances(client: ChainClient): ChainClient {
  const { accounts } = client
  if (accounts === undefined) throw new Error('no account reader')
  return { ...client, accounts: { ...accounts, touched: async () => 'gone' as const } }
}

const untilCursor = (check: (cursor: NonNullable<Awaited<ReturnType<typeof stage.cursor>>>) => boolean) =>
  vi.waitFor(async () => {
    const cursor = await stage.cursor()
    expect(cursor !== null && check(cursor)).toBe(true)
  }, PATIENCE)

const send = async (raw: string) => {
  await stage.chain.rpc('eth_sendRawTransaction', [raw])
  await stage.chain.mine()
}

// Guarantee: how sparsely hashes are remembered decides how much is read again, never whether a permitted reorganisation is followed.
it.each(sampleOf([63, 33, 50], 1))('a permitted reorganisation of %i blocks is followed', async (depth) => {
  await waitForTokens()
  const scanner = thrifty()
  await untilCursor(({ source }) => source === 'thrifty')
  await stage.untilHeight(await stage.height())
  await scanner.stop()
  // One range over many blocks, then a short one, which makes more of them final.
  await stage.chain.mine(150)
  const first = await signedTransfer(stage.chain, 1_000_000n)
  await send(first)
  const second = thrifty()
  await stage.untilPayments([{ amount: '1000000' }])
  await second.stop()
  await stage.chain.mine(depth - 40 > 0 ? depth - 40 : 1)
  const late = await signedTransfer(stage.chain, 2_000_000n)
  await send(late)
  const third = thrifty()
  await stage.untilPayments([{ amount: '1000000' }, { amount: '2000000' }])
  await stage.chain.reorg(depth, [])
  await send(await signedTransfer(stage.chain, 3_000_000n))
  await vi.waitFor(async () => {
    expect((await stage.cursor())?.haltReason ?? null).toBeNull()
    const states = new Map((await stage.payments()).map(({ amount, state }) => [amount, state]))
    expect(states.get('2000000')).toBe('orphaned')
    expect(states.get('3000000')).toBe('detected')
  }, PATIENCE)
  await third.stop()
})

// Guarantee: payments in blocks that still stand are not taken back, however far below them the last remembered block is.
it('a confirmed payment below the fork and above the last remembered block stays confirmed', async () => {
  await waitForTokens()
  const scanner = thrifty()
  await untilCursor(({ source }) => source === 'thrifty')
  await stage.untilHeight(await stage.height())
  await scanner.stop()
  await stage.chain.mine(60)
  await send(await signedTransfer(stage.chain, 1_000_000n))
  // The payment is 50 blocks below the end: 32 and 64 below it are remembered.
  await stage.chain.mine(50)
  const states = vi.fn()
  const second = thrifty()
  await stage.untilPayments([{ state: 'confirmed' }])
  await second.stop()
  await stage.chain.reorg(45, [])
  await stage.chain.mine(2)
  const { payments } = stage.deps
  const orphanAbove: typeof payments.orphanAbove = async (scope) => {
    const changed = await payments.orphanAbove(scope)
    states(changed.length)
    return changed
  }
  const node = { rpcUrls: [stage.chain.url], chainId: 31_337 }
  const client = createChainClient({ live: {}, test: { ethereum: node } }, 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  await send(await signedTransfer(stage.chain, 3_000_000n))
  stage.scan(stage.source({ client, finalityDepth: FINALITY_DEPTH, thrifty: briskPace() }), {
    payments: { ...payments, orphanAbove },
  })
  await stage.untilPayments([{ amount: '1000000', state: 'confirmed' }, { amount: '3000000' }])
  expect(states.mock.calls).toEqual([[0]])
})

// Guarantee: a reorganisation of final blocks still halts the network.
it('a reorganisation of final blocks halts', async () => {
  await waitForTokens()
  const scanner = thrifty()
  await untilCursor(({ source }) => source === 'thrifty')
  await stage.untilHeight(await stage.height())
  await scanner.stop()
  await stage.chain.mine(150)
  await send(await signedTransfer(stage.chain, 1_000_000n))
  thrifty()
  await stage.untilPayments([{ amount: '1000000' }])
  await stage.chain.reorg(100, [])
  await stage.chain.mine(2)
  await send(await signedTransfer(stage.chain, 3_000_000n))
  await untilCursor(({ status }) => status === 'halted')
  expect(await stage.payments()).toMatchObject([{ amount: '1000000', state: 'detected' }])
})

// Guarantee: while a network rests, its head says nothing about the branch of the cursor's block.
it('a reorganisation that a resting network slept through is followed', async () => {
  await waitForTokens()
  const scanner = thrifty()
  await untilCursor(({ source }) => source === 'thrifty')
  await stage.untilHeight(await stage.height())
  await scanner.stop()
  await stores.db.connection.collection('invoices').updateMany({}, { $set: { status: 'cancelled' } })
  await stage.chain.reorg(1, [])
  await stage.chain.mine(150)
  const head = await stage.height()
  // These blocks are younger than the margin: the cursor cannot pass them, but its head says that blocks far above it are final.
  thrifty({ marginMs: HOUR_MS })
  await untilCursor(({ headHeight }) => headHeight >= head)
  await stores.db.connection.collection('invoices').updateMany({}, { $set: { status: 'pending' } })
  await stage.untilHeight(head)
  expect(await stage.cursor()).toMatchObject({ haltReason: null })
})

// Guards availability: found by the simulation. The look back before a deadline asked for a block that was gone, again and again.
it('a reorganisation of the scanned block is followed when every block above it passes a deadline', async () => {
  // No machine needs that long for what comes before the deadline; then the clocks of chain and scanner go past it.
  const aheadMs = 600_000
  const endsAt = Date.now() + aheadMs
  await waitForTokens(endsAt)
  const scanner = thrifty()
  await untilCursor(({ source }) => source === 'thrifty')
  await send(await signedTransfer(stage.chain, 1_000_000n))
  await stage.untilPayments([{ amount: '1000000', state: 'detected' }])
  await stage.untilHeight(await stage.height())
  await scanner.stop()
  expect((await stage.cursor())?.time).toBeLessThan(endsAt)
  await stage.chain.reorg(1, [])
  await stage.chain.rpc('evm_setNextBlockTimestamp', [Math.ceil(endsAt / 1_000)])
  await stage.chain.mine(2)
  thrifty({}, {}, { clock: { now: () => Date.now() + aheadMs } })
  await stage.untilPayments([{ amount: '1000000', state: 'orphaned' }])
  await stage.untilHeight(await stage.height())
})

// Guarantee: what an account had when it was first read is compared on the branch that stands. Where that block was replaced and no node remembers
// it, nothing is lost or credited twice; of an address whose owner uses it otherwise a person is told. A deadline that passes in blocks which are
// read again is proven like any other.
it.each([
  ['derived', null, []],
  ['listed', ['a list'], ['unexplained_balance']],
])('the start of a %s address proves nothing once its block was replaced', async (_what, heldBy, kinds) => {
  const aheadMs = 600_000
  const endsAt = Date.now() + aheadMs
  const addresses = stores.db.connection.collection('addresses')
  if (heldBy !== null)
    await addresses.updateMany({ matchKey: WATCHED.matchKey }, { $set: { heldBy } }, { bypassDocumentValidation: true })
  if (heldBy !== null) await stage.chain.fund(WATCHED.address, 5n)
  await stage.chain.mine(10)
  await waitForTokens(endsAt)
  const scanner = thrifty()
  await untilCursor(({ source }) => source === 'thrifty')
  await send(await signedTransfer(stage.chain, 1_000_000n))
  await stage.untilPayments([{ amount: '1000000', state: 'detected' }])
  await stage.untilHeight(await stage.height())
  await scanner.stop()
  // As if the address had been shown in the block of that payment.
  const { balances } = stage.deps
  const [row] = await balances.starts('test', 'ethereum', [WATCHED.matchKey])
  const { height = 0, hash = '' } = (await stage.cursor()) ?? {}
  const moved = (row?.starts ?? []).map((start) => ({ ...start, height, hash }))
  await balances.saveStarts('test', 'ethereum', [{ matchKey: WATCHED.matchKey, starts: moved }], 1)
  await stage.chain.reorg(2, [])
  await send(await signedTransfer(stage.chain, 2_000_000n))
  await stage.chain.rpc('evm_setNextBlockTimestamp', [Math.ceil(endsAt / 1_000)])
  await stage.chain.mine(2)
  const clock = { now: () => Date.now() + aheadMs }
  const second = thrifty({}, { client: withoutOldBalances(nodeClient()) }, { clock })
  await stage.untilHeight(await stage.height())
  await untilCursor(({ unproven }) => unproven == null)
  await stage.untilPayments([
    { amount: '1000000', state: 'orphaned' },
    { amount: '2000000', state: 'confirmed' },
  ])
  expect((await stage.deps.exceptions.listOpen(null)).map(({ kind }) => kind)).toEqual(kinds)
  await second.stop()
})

// Guards availability: found by the simulation (seed 508). Each step read one batch and then waited, so that deadlines passed hours late.
it('a network that is far behind a node without old balances is read to its head without pauses', async () => {
  await waitForTokens()
  const scanner = thrifty()
  await untilCursor(({ source }) => source === 'thrifty')
  await stage.untilHeight(await stage.height())
  await scanner.stop()
  await stage.chain.mine(20)
  await send(await signedTransfer(stage.chain, 1_000_000n))
  await stage.chain.mine(20)
  // The second step at the pace of steps would be an hour later.
  const pace = { watchedMs: HOUR_MS, openMs: HOUR_MS, troubleMs: HOUR_MS, confirmMs: HOUR_MS }
  thrifty(pace, { client: withoutOldBalances(nodeClient()), batchMax: 5 })
  await stage.untilPayments([{ amount: '1000000' }])
  await stage.untilHeight(await stage.height())
})
