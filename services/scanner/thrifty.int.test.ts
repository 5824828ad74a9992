import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { deadlinesPassUntil } from '#shared/usecases/networks/known-until.ts'
import type { ThriftyPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { ETHER, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { deepDescribe, deepTest, sampleOf } from '#test/support/depth.ts'
import type { Lie } from '#test/support/lying-node.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const PATIENCE = { timeout: 60_000, interval: 20 }
const HOUR_MS = 3_600_000
/** How far away a deadline is that a test lets pass: no machine needs that long for what comes before it. */
const DEADLINE_MS = 600_000

const stores = useStores()
const balances = useBalanceStage(stores)
const { stage } = balances
const running: { stop(): Promise<void> }[] = []
let methods: Record<string, number> = {}

/** A node that answers honestly and counts what it is asked. */
async function countingNode(lie: Lie = (_, truth) => truth): Promise<string> {
  methods = {}
  return balances.lying((call, truth) => {
    methods[call.method] = (methods[call.method] ?? 0) + 1
    return lie(call, truth)
  })
}

/** What the store's clock shows more than it did at first. */
let stepMs = 0
const clock = { now: () => Date.now() + stepMs }
beforeEach(() => {
  stepMs = 0
})

function thrifty(url: string = stage.chain.url, change: Partial<ThriftyPace> = {}, more: readonly string[] = []) {
  const node = { rpcUrls: [url, ...more], chainId: 31_337 }
  const client = createChainClient({ live: {}, test: { ethereum: node } }, 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  return stage.scan(stage.source({ client, thrifty: briskPace(change) }), { clock })
}

/** An invoice that waits for test tokens, or ether, at the watched address. */
async function waitFor(
  asset: 'usdt_ethereum' | 'eth_ethereum',
  { at = Date.now(), endsAt = Date.now() + HOUR_MS } = {},
) {
  const coin = asset === 'eth_ethereum' ? ({ symbol: 'ETH', decimals: 18 } as const) : {}
  const paymentMethod = { ...samplePaymentMethod(WATCHED.matchKey, at, { asset, ...coin }), address: WATCHED.address }
  const invoice = sampleInvoice(stores.runtime.random, {
    at,
    number: 1,
    state: { paymentMethods: [paymentMethod], status: 'pending', expiresAt: endsAt, nextActionAt: endsAt },
  })
  await createInvoiceRepository(stores.db).insert(invoice)
  return invoice.terms.id
}

const pay = (amountBase: bigint, asset: 'usdt_ethereum' | 'eth_ethereum' = 'usdt_ethereum') =>
  stage.chain.pay({ asset, to: WATCHED.address, amountBase })

/** The chain's clock and the store's go on to a moment after a deadline. */
const goPast = async (deadline: number) => {
  const aheadMs = deadline - clock.now() + 1_000
  await stage.chain.rpc('evm_increaseTime', [Math.ceil(aheadMs / 1_000)])
  stepMs += aheadMs
}

/** A block of a moment after a deadline; the store's clock has come as far. */
const mineAt = async (deadline: number) => {
  const time = Math.ceil(deadline / 1_000) + 1
  stepMs = time * 1_000 - Date.now()
  await stage.chain.rpc('evm_setNextBlockTimestamp', [time])
  await stage.chain.mine()
}

/** Up to when deadlines pass. */
const passedUntil = async () => {
  const cursor = await stage.cursor()
  return cursor === null ? 0 : deadlinesPassUntil(cursor, 12_000)
}

const untilCursor = (check: (cursor: NonNullable<Awaited<ReturnType<typeof stage.cursor>>>) => boolean) =>
  vi.waitFor(async () => {
    const cursor = await stage.cursor()
    expect(cursor !== null && check(cursor)).toBe(true)
  }, PATIENCE)
const untilThrifty = () => untilCursor(({ source }) => source === 'thrifty')

describe('a thrifty scanner', () => {
  beforeEach(() => {
    methods = {}
  })

  it('reads no block while no invoice is open', async () => {
    const url = await countingNode()
    thrifty(url)
    await untilThrifty()
    const before = methods['eth_getLogs'] ?? 0
    await stage.chain.mine(200)
    await untilCursor(({ headHeight }) => headHeight >= 200)
    expect(methods['eth_getLogs'] ?? 0).toBe(before)
  })

  // Guarantee: keys and blocks are those of full scanning, so a change of mode counts nothing twice.
  it.each(sampleOf(['usdt_ethereum', 'eth_ethereum'] as const, 1))(
    'finds %s where full scanning finds it',
    async (asset) => {
      await waitFor(asset)
      const scanner = thrifty()
      await untilThrifty()
      await stage.chain.mine(40)
      await pay(asset === 'eth_ethereum' ? ETHER : 5_000_000n, asset)
      await stage.chain.mine(4)
      await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ state: 'confirmed' }]), PATIENCE)
      const [found] = await stage.payments()
      await scanner.stop()
      await stores.db.connection.collection('payments').deleteMany({})
      await stores.db.connection.collection('chain_cursors').deleteMany({})
      stage.scan()
      await vi.waitFor(async () => expect(await stage.payments()).toEqual([found]), PATIENCE)
    },
  )

  // Guarantee: nothing is passed between two looks; what came in and went out is stored before the deadline can pass.
  it('finds what came in and went out again before the deadline passes', async () => {
    await stage.chain.fund(WATCHED.address, ETHER)
    await stage.chain.mine()
    const endsAt = Date.now() + DEADLINE_MS
    await waitFor('usdt_ethereum', { at: Date.now() - 1_000, endsAt })
    thrifty(stage.chain.url, { openMs: HOUR_MS, watchedMs: 50, restMs: HOUR_MS })
    await untilThrifty()
    await untilCursor(({ height }) => height > 0)
    await pay(7_000_000n)
    await stage.chain.mine()
    const data = `0xa9059cbb${'77'.repeat(20).padStart(64, '0')}${7_000_000n.toString(16).padStart(64, '0')}`
    const to = (await import('#shared/chains/definitions/assets.ts')).ASSETS.usdt_ethereum.contract
    await stage.chain.rpc('eth_sendTransaction', [{ from: WATCHED.address, to, data, gas: '0x30d40' }])
    await stage.chain.mine()
    await goPast(endsAt)
    await vi.waitFor(async () => {
      await stage.chain.mine()
      expect(await passedUntil()).toBeGreaterThanOrEqual(endsAt)
    }, PATIENCE)
    // The ether from nowhere is a separate increase.
    const found = (await stage.payments()).filter(({ key }) => key.includes(':t:'))
    expect(found).toMatchObject([{ amount: '7000000' }])
  })

  // Guarantee: the store's clock goes back, or another machine becomes its primary: nobody waits for the time that it showed before.
  deepTest('finds a payment after the clock went back by an hour', async () => {
    await waitFor('usdt_ethereum')
    thrifty()
    await untilThrifty()
    await stage.untilHeight(await stage.height())
    stepMs = -HOUR_MS
    await pay(5_000_000n)
    await stage.chain.mine()
    await stage.untilPayments([{ amount: '5000000' }])
  })

  it('follows a reorganisation and finds the payment in its new block', async () => {
    await waitFor('usdt_ethereum')
    await stage.chain.mine(30)
    thrifty()
    await untilThrifty()
    const { signedTransfer } = await import('#test/support/scan-stage.ts')
    const raw = await signedTransfer(stage.chain, 4_000_000n)
    await stage.chain.rpc('eth_sendRawTransaction', [raw])
    await stage.chain.mine()
    await stage.untilPayments([{ state: 'detected', amount: '4000000' }])
    await stage.chain.reorg(1, [])
    await stage.chain.mine()
    await stage.untilPayments([{ state: 'orphaned' }])
    await stage.chain.rpc('eth_sendRawTransaction', [raw])
    await stage.chain.mine(5)
    await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ state: 'confirmed' }]), PATIENCE)
  })
})

describe('addresses without an open invoice', () => {
  deepTest('are looked at, and late money is found in its block', async () => {
    thrifty(stage.chain.url, { allLookMs: 50, endedLookMs: HOUR_MS })
    await untilThrifty()
    await stage.chain.mine(3)
    await pay(6_000_000n)
    await pay(ETHER, 'eth_ethereum')
    await stage.chain.mine()
    const height = await stage.height()
    await stage.chain.mine(150)
    await vi.waitFor(async () => {
      const found = await stage.payments()
      expect(found.map(({ amount, height: at }) => [amount, at]).sort()).toEqual([
        [String(ETHER), height],
        ['6000000', height],
      ])
    }, PATIENCE)
  })

  deepTest('are looked at again although the last look has a time that is still to come', async () => {
    stepMs = 48 * HOUR_MS
    const early = thrifty(stage.chain.url, { allLookMs: HOUR_MS, endedLookMs: HOUR_MS })
    await untilThrifty()
    await early.stop()
    stepMs = 0
    await pay(6_000_000n)
    await stage.chain.mine(150)
    thrifty(stage.chain.url, { allLookMs: 50, endedLookMs: HOUR_MS })
    await stage.untilPayments([{ amount: '6000000' }])
  })

  // Guarantee: without balances of the last look every block is read; late money is not lost.
  it('are found by reading every block when no node has old balances', async () => {
    let isPruned = false
    const url = await countingNode(({ method, params }, truth) => {
      const isOld = method === 'eth_call' && typeof params[1] === 'object' && isPruned
      return isOld
        ? { error: { code: -32_000, message: 'missing trie node 0b1c (path ) state is not available' } }
        : truth
    })
    thrifty(url, { allLookMs: 50, endedLookMs: HOUR_MS })
    await untilThrifty()
    isPruned = true
    await pay(6_000_000n)
    await stage.chain.mine(150)
    await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ amount: '6000000' }]), PATIENCE)
  })
})

deepDescribe('a look', () => {
  it('whose block was replaced begins lower', async () => {
    const scanner = thrifty(stage.chain.url, { allLookMs: HOUR_MS })
    await untilThrifty()
    await scanner.stop()
    await stage.chain.mine(3)
    await pay(6_000_000n)
    await stage.chain.mine(150)
    const lost = { 'looks.all.height': 2, 'looks.all.hash': `0x${'5b'.repeat(32)}` }
    await stores.db.connection.collection('chain_cursors').updateOne({}, { $set: lost })
    thrifty(stage.chain.url, { allLookMs: 50 })
    await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ amount: '6000000' }]), PATIENCE)
    expect((await stage.cursor())?.trouble ?? null).toBeNull()
  })
})

describe('a change of mode', () => {
  // Guarantee: money that arrived at an address without an open invoice between two looks is found, once, after the change to full.
  it('back to full looks at what came since the last look, and counts nothing twice', async () => {
    await waitFor('usdt_ethereum')
    const scanner = thrifty(stage.chain.url, { allLookMs: HOUR_MS })
    await untilThrifty()
    await pay(5_000_000n)
    await stage.chain.mine(2)
    await stage.untilPayments([{ amount: '5000000' }])
    await stores.db.connection.collection('invoices').updateMany({}, { $set: { status: 'paid' } })
    await stage.chain.mine(2)
    await pay(3_000_000n)
    await stage.chain.mine(150)
    await untilCursor(({ headHeight }) => headHeight >= 150)
    await scanner.stop()
    expect((await stage.cursor())?.source).toBe('thrifty')
    const { height } = (await stage.cursor()) ?? {}
    const source = stage.source()
    stage.scan({ ...source, looks: briskPace({ allLookMs: 50 }) })
    await untilCursor((cursor) => cursor.source === 'full')
    expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(height ?? 0)
    await vi.waitFor(async () => {
      const found = await stage.payments()
      expect(found.map(({ amount, state }) => [amount, state]).sort()).toEqual([
        ['3000000', 'confirmed'],
        ['5000000', 'confirmed'],
      ])
    }, PATIENCE)
    expect(await stage.cursor()).toMatchObject({ source: 'full' })
  })

  it('goes back and forth without losing or repeating a payment in between', async () => {
    await waitFor('usdt_ethereum')
    const amounts: string[] = []
    for (const round of [1, 2, 3, 4, 5, 6]) {
      // One arrives while nobody scans, the other one while somebody does.
      for (const amount of [round, round + 10]) {
        await pay(BigInt(amount) * 1_000_000n)
        await stage.chain.mine(1)
        amounts.push(`${amount}000000`)
        if (amount > 10) continue
        const scanner = round % 2 === 1 ? thrifty() : stage.scan()
        await untilCursor(({ source }) => source === (round % 2 === 1 ? 'thrifty' : 'full'))
        running.push(scanner)
      }
      await vi.waitFor(
        async () => expect((await stage.payments()).map(({ amount }) => amount).sort()).toEqual([...amounts].sort()),
        PATIENCE,
      )
      await running.pop()?.stop()
    }
  })
})

/** A node whose coin balances stay zero while `isStale` says so; it is honest about tokens, blocks and logs. */
const staleNode = (isStale = () => true) =>
  countingNode(({ method, params }, truth) => {
    const { result } = truth
    const isRequested = method === 'eth_call' && (params[0] as { to?: string }).to === undefined
    if (!isStale() || !isRequested || typeof result !== 'string') return truth
    return { result: `${result.slice(0, 66)}${'0'.repeat(64)}${result.slice(130)}` }
  })

describe('a node', () => {
  // Guarantee: whichever step reads a range, a deadline in it passes only after every node was asked.
  it('with old balances of coins hides nothing from a deadline that an ordinary step passes', async () => {
    const at = Date.now() - 1_000
    const endsAt = at + DEADLINE_MS
    await waitFor('eth_ethereum', { at, endsAt })
    await pay(ETHER, 'eth_ethereum')
    await stage.chain.mine()
    await mineAt(endsAt)
    // So long that no step is taken because of the deadline.
    thrifty(await staleNode(), { blockTimeMs: HOUR_MS }, [stage.chain.url])
    await untilCursor(({ time, unproven }) => time >= endsAt && unproven === null)
    expect(await stage.payments()).toMatchObject([{ amount: String(ETHER) }])
  })

  /** Ether arrives while the stale node is asked alone, and an ordinary step takes the cursor past it. */
  async function hidePayment(endsAt: number, change: Partial<ThriftyPace> = {}) {
    let isStale = true
    const at = Date.now() - 1_000
    await waitFor('eth_ethereum', { at, endsAt })
    const url = await staleNode(() => isStale)
    const start = () => thrifty(url, { blockTimeMs: HOUR_MS, ...change }, [stage.chain.url])
    const scanner = start()
    await untilThrifty()
    await stage.untilHeight(await stage.height())
    await pay(ETHER, 'eth_ethereum')
    await stage.chain.mine(2)
    await pay(1_000_000n)
    await stage.chain.mine()
    await stage.untilHeight(await stage.height())
    expect(await stage.payments()).toMatchObject([{ amount: '1000000' }])
    const heal = () => {
      isStale = false
    }
    return { heal, scanner, start }
  }
  const amounts = async () => (await stage.payments()).map(({ amount }) => amount).sort()
  const BOTH = [String(ETHER), '1000000'].sort()
  const reachDeadline = async (endsAt: number) => {
    await mineAt(endsAt)
    // Blocks are an hour apart by the pace: only money moves the cursor.
    await pay(2_000_000n)
    await stage.chain.mine()
  }

  // Guarantee: money of a range that a stale node read alone is found before the deadline passes.
  it('with old balances is found out before the deadline of an earlier range', async () => {
    const endsAt = Date.now() + DEADLINE_MS
    await hidePayment(endsAt)
    await reachDeadline(endsAt)
    await untilCursor(({ time, unproven }) => time >= endsAt && unproven === null)
    expect(await amounts()).toEqual(expect.arrayContaining(BOTH))
  })

  deepTest('with old balances that heals shows at once that something was missed', async () => {
    const { heal } = await hidePayment(Date.now() + HOUR_MS)
    heal()
    await stage.chain.mine()
    await vi.waitFor(async () => expect(await amounts()).toEqual(BOTH), PATIENCE)
  })

  // Guarantee: that does not depend on memory of the process.
  deepTest('with old balances that heals while nobody scans hides nothing at the deadline', async () => {
    const endsAt = Date.now() + DEADLINE_MS
    const { heal, scanner, start } = await hidePayment(endsAt)
    await scanner.stop()
    heal()
    await reachDeadline(endsAt)
    start()
    await untilCursor(({ time, unproven }) => time >= endsAt && unproven === null)
    expect(await amounts()).toEqual(expect.arrayContaining(BOTH))
  })

  it('with old balances delays a token payment and does not hide it', async () => {
    const endsAt = Date.now() + DEADLINE_MS
    await waitFor('usdt_ethereum', { at: Date.now() - 1_000, endsAt })
    const stale = await countingNode(({ method, params }, truth) => {
      const { result } = truth
      const isRequested = method === 'eth_call' && (params[0] as { to?: string }).to === undefined
      if (!isRequested || typeof result !== 'string') return truth
      return { result: `${result.slice(0, 66)}${'0'.repeat(result.length - 66)}` }
    })
    thrifty(stale)
    await untilThrifty()
    await pay(7_000_000n)
    await stage.chain.mine()
    await goPast(endsAt)
    await vi.waitFor(async () => {
      await stage.chain.mine()
      expect(await passedUntil()).toBeGreaterThanOrEqual(endsAt)
    }, PATIENCE)
    expect((await stage.payments()).filter(({ key }) => key.includes(':t:'))).toMatchObject([{ amount: '7000000' }])
  })

  // Guarantee: servers behind one URL on two branches: a block that is not on the branch of the range's end is not passed.
  deepTest('that shows a block of another branch is not believed', async () => {
    await waitFor('usdt_ethereum')
    let isElsewhere = false
    const other = `0x${'5b'.repeat(32)}`
    const url = await countingNode(({ method, params }, truth) => {
      const { result } = truth
      // Requests for whole blocks reach the server on the other branch.
      const isBlock = method === 'eth_getBlockByNumber' && params[1] === true
      if (!isElsewhere || (!isBlock && method !== 'trace_block')) return truth
      if (!isBlock) return { result: [] }
      return { result: { ...(result as object), hash: other, transactions: [], logsBloom: `0x${'0'.repeat(512)}` } }
    })
    thrifty(url)
    await untilThrifty()
    await stage.untilHeight(await stage.height())
    isElsewhere = true
    await pay(ETHER, 'eth_ethereum')
    await stage.chain.mine()
    await untilCursor(({ trouble }) => trouble != null)
    isElsewhere = false
    await stage.chain.mine()
    await stage.untilPayments([{ amount: String(ETHER) }])
  })

  // Guarantee: addresses without an open invoice can wait; open invoices do not wait for them.
  deepTest('that cannot look back does not hold up open invoices', async () => {
    await waitFor('usdt_ethereum')
    let lookedAt = 0
    let from: string | undefined
    const url = await countingNode(({ method, params }, truth) => {
      const tag = params[1] as { blockHash?: string } | undefined
      if (method !== 'eth_call' || from === undefined || tag?.blockHash !== from) return truth
      lookedAt += 1
      return { error: { code: -32_603, message: 'internal error' } }
    })
    const rare = thrifty(url, { allLookMs: HOUR_MS, endedLookMs: HOUR_MS })
    await untilThrifty()
    await stage.untilHeight(await stage.height())
    // After the first look there is none for an hour, so that the place where the next one begins stays.
    await untilCursor(
      ({ looks, height, finalizedHeight }) => looks?.all.height === Math.min(height, finalizedHeight ?? height),
    )
    await rare.stop()
    const before = await stage.cursor()
    expect(before?.looks?.all.height).toBeLessThan(before?.height ?? 0)
    from = before?.looks?.all.hash
    thrifty(url, { allLookMs: 50, endedLookMs: HOUR_MS })
    await pay(2_000_000n)
    await stage.chain.mine(150)
    await stage.untilPayments([{ amount: '2000000' }])
    await vi.waitFor(async () => {
      await stage.chain.mine()
      expect(lookedAt).toBeGreaterThan(0)
    }, PATIENCE)
    await pay(3_000_000n)
    await stage.chain.mine(20)
    const paidAt = (await stage.height()) - 20
    await stage.untilHeight(paidAt)
    expect((await stage.payments()).map(({ amount }) => amount).sort()).toEqual(['2000000', '3000000'])
    expect((await stage.cursor())?.trouble ?? null).toBeNull()
  })

  // Guarantee: a node without logs does not let a deadline pass: balances contradict it.
  it('that leaves out logs lets no deadline pass', async () => {
    const endsAt = Date.now() + DEADLINE_MS
    await waitFor('usdt_ethereum', { at: Date.now() - 1_000, endsAt })
    const silent = await countingNode(({ method }, truth) => (method === 'eth_getLogs' ? { result: [] } : truth))
    thrifty(silent)
    await untilThrifty()
    await pay(7_000_000n)
    await stage.chain.mine()
    const paidAt = await stage.height()
    await goPast(endsAt)
    await vi.waitFor(async () => {
      await stage.chain.mine()
      expect((await stage.cursor())?.trouble).toMatchObject({ kind: 'node' })
    }, PATIENCE)
    expect((await stage.cursor())?.height).toBeLessThan(paidAt)
    expect(await stage.payments()).toEqual([])
  })
})
