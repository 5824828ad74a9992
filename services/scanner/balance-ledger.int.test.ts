import { Wallet as Signer } from 'ethers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEVELOPMENT_PAYER } from '#scripts/local-chain/pay.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { startChainScanner } from '#shared/usecases/scan-chain.ts'
import type { ScanSource } from '#shared/usecases/scan-session.ts'
import { sampleInvoice, sampleLock } from '#test/support/db-samples.ts'
import { type Lie, startLyingNode } from '#test/support/lying-node.ts'
import { CONFIRMATIONS, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useScanStage(stores)

/** A contract that passes on what it gets to its first argument. */
const FORWARDER = `0x${'a1'.repeat(20)}`
const FORWARD = '0x6000600060006000346000355af100'
/** Account 2 of anvil's public phrase. */
const PAYER = new Signer('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a')

const opened: { close(): Promise<void> }[] = []
beforeEach(async () => {
  await stage.chain.rpc('anvil_setCode', [FORWARDER, FORWARD])
  await stage.chain.rpc('anvil_impersonateAccount', [WATCHED.address])
})
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close()
})

type Ledger = 'balance' | 'trace' | null

function clientOf(coinLedger: Ledger, rpcUrls: readonly string[] = [stage.chain.url]): OpenChainClient {
  const node = { rpcUrls, chainId: 31_337, coinLedger }
  const client = createChainClient({ live: {}, test: { ethereum: node } }, 'test', 'ethereum', stores.ambient.metrics)
  if (client === null) throw new Error('no client')
  opened.push(client)
  return client
}

async function lying(lie: Lie): Promise<string> {
  const node = await startLyingNode(stage.chain.url, lie)
  opened.push(node)
  return node.url
}

const source = (client = clientOf('balance'), change: Partial<ScanSource> = {}) => stage.source({ client, ...change })

/** An invoice that waits for ether at the watched address; gives its id. */
async function waitForEther(): Promise<string> {
  const at = Date.now()
  const lock = sampleLock(WATCHED.matchKey, at, { asset: 'eth_ethereum', symbol: 'ETH', decimals: 18, coin: true })
  const invoice = sampleInvoice(stores.ambient.random, {
    at,
    state: { locks: [{ ...lock, address: WATCHED.address }] },
  })
  await createInvoiceRepository(stores.db).insert(invoice)
  return invoice.terms.id
}

const word = (hex: string) => hex.slice(2).toLowerCase().padStart(64, '0')

/** A scanner's first look, before anybody waits for ether: what lies at the address is its start. */
async function lookFirst(wei: bigint): Promise<void> {
  await stage.chain.fund(WATCHED.address, wei)
  await stage.chain.mine()
  const scanner = stage.scan(source())
  await untilHead()
  await scanner.stop()
}

/** Sends ether through the contract, unless `to` says that it goes straight. Not mined yet. */
async function send(value: bigint, to = FORWARDER): Promise<void> {
  const data = to === FORWARDER ? `0x${word(WATCHED.address)}` : '0x'
  const transaction = { from: DEVELOPMENT_PAYER, to, value: `0x${value.toString(16)}`, data, gas: '0x7a120' }
  await stage.chain.rpc('eth_sendTransaction', [transaction])
}

/** The watched address moves its own coins on. */
async function sweep(value: bigint): Promise<void> {
  const transaction = { from: WATCHED.address, to: PAYER.address, value: `0x${value.toString(16)}`, gas: '0x5208' }
  await stage.chain.rpc('eth_sendTransaction', [transaction])
}

const rise = (amount: bigint, ordinal = 0) => ({
  key: `test:ethereum:d:0x${WATCHED.matchKey}:${amount}:${ordinal}`,
  amount: String(amount),
})
/** Live payments by amount. */
const credited = async () =>
  (await stage.payments()).filter(({ state }) => state !== 'orphaned').map(({ amount }) => Number(amount))
const untilHead = async () => stage.untilHeight(await stage.height())
const ETHER = 10n ** 18n

describe('coins inside of calls, told from balances', () => {
  // Guarantee: what a contract pays is credited once on a node that shows neither traces nor logs.
  it('are a payment without a transaction, detected and confirmed like any other', async () => {
    stage.scan(source())
    await untilHead()
    const invoiceId = await waitForEther()
    await send(5n)
    await stage.chain.mine()
    const mined = await stage.height()
    await stage.untilPayments([{ ...rise(5n), state: 'detected', height: mined }])
    await stage.chain.mine(CONFIRMATIONS - 1)
    await stage.untilPayments([{ ...rise(5n), state: 'confirmed', height: mined }])
    expect(await stores.db.connection.collection('payments').findOne()).toMatchObject({
      invoiceId,
      txHash: null,
      fromAddress: null,
      toAddress: WATCHED.address,
      contract: null,
      uncountedReason: null,
      block: { rise: { since: { height: mined - 1 }, beforeBase: '0', afterBase: '5' } },
    })
  })

  it('are told apart from what transactions send in the same block', async () => {
    await waitForEther()
    stage.scan(source())
    await untilHead()
    await send(7n, WATCHED.address)
    await send(5n)
    await stage.chain.mine()
    await untilHead()
    expect((await credited()).sort()).toEqual([5, 7])
  })

  it('are two payments when two blocks bring the same amount, each in its block', async () => {
    await waitForEther()
    await stage.scan(source()).stop()
    for (const _ of [1, 2]) {
      await send(5n)
      await stage.chain.mine(2)
    }
    const height = await stage.height()
    stage.scan(source())
    await stage.untilPayments([
      { ...rise(5n, 0), height: height - 3 },
      { ...rise(5n, 1), height: height - 1 },
    ])
  })

  it('are found below what the merchant moves on, fees and failures included', async () => {
    await lookFirst(3n * ETHER)
    await waitForEther()
    await send(ETHER)
    await sweep(2n * ETHER)
    await stage.chain.mine()
    const failing = { from: WATCHED.address, to: FORWARDER, value: '0x1', data: '0x', gas: '0x5300' }
    await stage.chain.rpc('eth_sendTransaction', [failing])
    await stage.chain.mine()
    await sweep(ETHER / 2n)
    await send(7n * ETHER)
    await stage.chain.mine()
    stage.scan(source())
    await untilHead()
    expect((await stage.payments()).map(({ amount }) => amount).sort()).toEqual([String(ETHER), String(7n * ETHER)])
  })

  it('are not what lay there before, nor what comes for nobody', async () => {
    await lookFirst(ETHER)
    stage.scan(source())
    await send(5n)
    await stage.chain.mine()
    await untilHead()
    await waitForEther()
    await send(6n)
    await stage.chain.mine()
    await stage.untilPayments([rise(6n)])
  })

  it.each([1, 2, 50])('add up to what traces show, in steps of %i blocks', async (batchMax) => {
    await waitForEther()
    const scanner = stage.scan(source())
    await untilHead()
    await scanner.stop()
    const from = (await stage.height()) + 1
    for (const [value, to] of [
      [5n, FORWARDER],
      [5n, FORWARDER],
      [9n, WATCHED.address],
      [ETHER, FORWARDER],
    ] as const) {
      await send(value, to)
      await stage.chain.mine()
    }
    await sweep(1n)
    await stage.chain.mine(2)
    await send(5n)
    await stage.chain.mine(3)
    stage.scan(source(undefined, { batchMax }))
    await untilHead()
    const watches = { has: (matchKey: string) => matchKey === WATCHED.matchKey, add: () => {}, size: 1 }
    const traced = await clientOf('trace').scan(from, await stage.height(), watches)
    const shown = traced.flatMap((block) =>
      block.transfers.map(({ amountBase }) => ({ amount: amountBase.toString(), height: block.height })),
    )
    expect(shown).toHaveLength(5)
    expect((await stage.payments()).map(({ amount, height }) => ({ amount, height }))).toEqual(
      expect.arrayContaining(shown),
    )
    expect(await stage.payments()).toHaveLength(5)
  })
})

describe('a reorganisation', () => {
  // Guarantee: a balance that is taken back takes the payment with it, and the same money comes back as the same payment.
  it('drops what balances told, and finds it again under its key', async () => {
    await waitForEther()
    stage.scan(source())
    await untilHead()
    const raw = await PAYER.signTransaction({
      chainId: 31_337,
      nonce: 0,
      to: FORWARDER,
      value: 5n,
      data: `0x${word(WATCHED.address)}`,
      gasLimit: 500_000,
      maxFeePerGas: 10_000_000_000n,
      maxPriorityFeePerGas: 1n,
      type: 2,
    })
    await stage.chain.mine(2)
    await stage.chain.rpc('eth_sendRawTransaction', [raw])
    await stage.chain.mine(2)
    const first = (await stage.height()) - 1
    await stage.untilPayments([{ ...rise(5n), state: 'detected', height: first }])
    await untilHead()
    await stage.chain.reorg(3)
    await stage.untilPayments([{ ...rise(5n), state: 'orphaned' }])
    await untilHead()
    await stage.chain.reorg(2, [[raw, 1]])
    await stage.untilPayments([{ ...rise(5n), state: 'detected' }])
    await stage.chain.mine(CONFIRMATIONS)
    await stage.untilPayments([{ ...rise(5n), state: 'confirmed' }])
  })
})

describe('a scanner that dies', () => {
  const dies = () => new Error('killed')

  // Guarantee: between any two steps of a commit a crash neither loses nor doubles what balances tell.
  it.each(['payments', 'checks', 'cursor'] as const)('after the %s goes on where it was', async (after) => {
    await waitForEther()
    const first = stage.scan(source())
    await untilHead()
    await first.stop()
    await send(5n)
    await stage.chain.mine(2)
    await send(6n)
    await stage.chain.mine()
    const died = vi.fn()
    const dying = async () => {
      died()
      throw dies()
    }
    const { deps } = stage
    const broken = {
      ...deps,
      ...(after === 'payments' && { balances: { ...deps.balances, save: dying } }),
      ...(after === 'checks' && { cursors: { ...deps.cursors, advance: dying } }),
      ...(after === 'cursor' && { payments: { ...deps.payments, confirmThrough: dying } }),
    }
    const doomed = startChainScanner(broken, source(undefined, { batchMax: 2 }))
    await vi.waitFor(() => expect(died).toHaveBeenCalled(), 8_000)
    await doomed.stop()
    // Another number of blocks per step, and one more payment of the same amount.
    await send(5n)
    await stage.chain.mine()
    stage.scan(source())
    await untilHead()
    expect((await credited()).sort()).toEqual([5, 5, 6])
  })

  it('and finds other blocks there does not keep what only the first ones held', async () => {
    await waitForEther()
    const first = stage.scan(source())
    await untilHead()
    await first.stop()
    await send(5n)
    await stage.chain.mine(2)
    const { deps } = stage
    const died = vi.fn()
    const advance = async () => {
      died()
      throw dies()
    }
    const doomed = startChainScanner({ ...deps, cursors: { ...deps.cursors, advance } }, source())
    await vi.waitFor(() => expect(died).toHaveBeenCalled(), 8_000)
    await doomed.stop()
    expect(await credited()).toEqual([5])
    await stage.chain.reorg(2)
    await send(5n)
    await stage.chain.mine()
    stage.scan(source())
    await untilHead()
    expect(await stage.payments()).toMatchObject([{ ...rise(5n), height: await stage.height() }])
  })

  // Guarantee: a move that a balance told of is not counted again when traces show it.
  it('and comes back with traces counts nothing twice', async () => {
    await waitForEther()
    const first = stage.scan(source())
    await untilHead()
    await first.stop()
    await send(5n)
    await stage.chain.mine()
    const { deps } = stage
    const died = vi.fn()
    const advance = async () => {
      died()
      throw dies()
    }
    const doomed = startChainScanner({ ...deps, cursors: { ...deps.cursors, advance } }, source())
    await vi.waitFor(() => expect(died).toHaveBeenCalled(), 8_000)
    await doomed.stop()
    const traced = stage.scan(source(clientOf('trace')))
    await untilHead()
    expect(await credited()).toEqual([5])
    await send(6n)
    await stage.chain.mine()
    await untilHead()
    expect((await credited()).sort()).toEqual([5, 6])
    await traced.stop()
    await send(7n)
    await stage.chain.mine()
    stage.scan(source())
    await untilHead()
    expect((await credited()).sort()).toEqual([5, 6, 7])
  })
})

describe('a node', () => {
  it('without traces is read by balances although nobody asked for them, and one with traces is not', async () => {
    const seen: string[] = []
    const refusing = await lying(({ method }, truth) => {
      seen.push(method)
      return method.startsWith('trace_') || method.startsWith('debug_')
        ? { error: { code: -32_601, message: 'the method does not exist' } }
        : truth
    })
    await waitForEther()
    const scanner = stage.scan(source(clientOf(null, [refusing])))
    await untilHead()
    await send(5n)
    await stage.chain.mine()
    await stage.untilPayments([rise(5n)])
    await scanner.stop()
    const tracing = await lying(({ method }, truth) => {
      seen.push(method)
      return truth
    })
    seen.length = 0
    stage.scan(source(clientOf(null, [tracing])))
    await send(6n)
    await stage.chain.mine()
    await untilHead()
    expect((await credited()).sort()).toEqual([5, 6])
    expect(seen).toContain('trace_block')
    expect(seen).not.toContain('eth_getBalance')
  })

  it('is asked for no balance while no invoice waits for the coin', async () => {
    const calls: unknown[] = []
    const url = await lying(({ method, params }, truth) => {
      if (method === 'eth_getBalance' || (method === 'eth_call' && (params[0] as { to?: string }).to === undefined)) {
        calls.push(params)
      }
      return truth
    })
    stage.scan(source(clientOf('balance', [url])))
    await stage.chain.mine(3)
    await untilHead()
    expect(calls).toEqual([])
    await waitForEther()
    await stage.chain.mine()
    await untilHead()
    expect(calls.length).toBeGreaterThan(0)
  })

  it('that will not run code is asked for each balance', async () => {
    const url = await lying(({ method, params }, truth) =>
      method === 'eth_call' && (params[0] as { to?: string }).to === undefined ? { result: '0x' } : truth,
    )
    await waitForEther()
    stage.scan(source(clientOf('balance', [url])))
    await untilHead()
    await send(5n)
    await stage.chain.mine()
    await stage.untilPayments([rise(5n)])
  })

  // Guarantee: a scanner that was away for longer than its node keeps old state credits what came meanwhile.
  it('that dropped the state of old blocks shows the whole rise in the first block that it can read', async () => {
    await lookFirst(ETHER)
    await waitForEther()
    await stage.chain.mine()
    const before = stage.scan(source())
    await untilHead()
    await before.stop()
    await send(5n)
    await stage.chain.mine()
    await send(7n, WATCHED.address)
    await sweep(1n)
    await stage.chain.mine(5)
    const kept = new Set<unknown>()
    for (const back of [0, 1]) {
      const block = await stage.chain.rpc('eth_getBlockByNumber', [
        `0x${((await stage.height()) - back).toString(16)}`,
        false,
      ])
      kept.add((block as { hash: string }).hash)
    }
    const pruned = await lying(({ method, params }, truth) => {
      const at = (params[1] as { blockHash?: string } | undefined)?.blockHash
      const isOld = (method === 'eth_call' || method === 'eth_getBalance') && at !== undefined && !kept.has(at)
      return isOld
        ? { error: { code: -32_000, message: 'missing trie node 0b1c (path ) state 0x0b is not available' } }
        : truth
    })
    const died = vi.fn()
    const { deps } = stage
    const advance: typeof deps.cursors.advance = async (mode, network, expected, next) => {
      if (next.height !== undefined && died.mock.calls.length < 2) {
        died()
        throw dies()
      }
      return deps.cursors.advance(mode, network, expected, next)
    }
    const dies = () => new Error('killed')
    const scanner = startChainScanner(
      { ...deps, cursors: { ...deps.cursors, advance } },
      source(clientOf('balance', [pruned]), { batchMax: 2 }),
    )
    try {
      await untilHead()
      expect((await credited()).sort()).toEqual([5, 7])
      const told = (await stage.payments()).find(({ amount }) => amount === '5')
      expect(told?.height).toBeGreaterThanOrEqual((await stage.height()) - 1)
      expect(died).toHaveBeenCalledTimes(2)
    } finally {
      await scanner.stop()
    }
  })

  // Guarantee: one node's word about a balance confirms nothing where there is a second one.
  it('that is contradicted by a second one confirms nothing', async () => {
    await waitForEther()
    let contradicts = true
    const second = await lying(({ method, params }, truth) =>
      contradicts && method === 'eth_call' && (params[0] as { to?: string }).to === undefined
        ? { result: `0x${'0'.repeat(64)}` }
        : truth,
    )
    stage.scan(source(clientOf('balance', [stage.chain.url, second])))
    await untilHead()
    await send(5n)
    await stage.chain.mine(CONFIRMATIONS + 1)
    await untilHead()
    await stage.chain.mine()
    await untilHead()
    expect(await stage.payments()).toMatchObject([{ ...rise(5n), state: 'detected' }])
    contradicts = false
    await stage.chain.mine()
    await stage.untilPayments([{ ...rise(5n), state: 'confirmed' }])
  })
})

describe('an account that sends inside of calls', () => {
  // Guarantee: what a contract wallet pays out unseen lowers the start; what comes next is counted once and in full.
  it('starts from its lower balance', async () => {
    await lookFirst(ETHER)
    await waitForEther()
    await stage.chain.mine()
    stage.scan(source())
    await untilHead()
    await stage.chain.fund(WATCHED.address, ETHER / 2n)
    await stage.chain.mine()
    await untilHead()
    await send(5n)
    await stage.chain.mine()
    await stage.untilPayments([rise(5n)])
    expect(await stage.payments()).toHaveLength(1)
  })
})
