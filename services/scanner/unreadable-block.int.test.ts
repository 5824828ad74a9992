import { beforeEach, describe, expect, it, vi } from 'vitest'
import { asksBalances, ETHER, increase, useBalanceStage } from '#test/support/balance-stage.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import type { Lie, RpcAnswer } from '#test/support/lying-node.ts'
import { CONFIRMATIONS, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { asksTraces, payingBomb, TRACE_BOMB } from '#test/support/trace-bomb.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, waitForEther, send, lying, credited } = useBalanceStage(stores)

/** How long the requirement gives a scanner to read such a block another way. */
const PATIENCE = { timeout: 60_000, interval: 100 }
/** How a node says that it gave up. */
const OUT_OF_MEMORY: RpcAnswer = { error: { code: -32_000, message: 'out of memory' } }

async function mined(request: object): Promise<string> {
  const [from] = (await stage.chain.rpc('eth_accounts', [])) as string[]
  return (await stage.chain.rpc('eth_sendTransaction', [{ from, ...request }])) as string
}

const rows = () =>
  stores.db.connection.collection('exceptions').find({ kind: 'unexplained_balance' }).sort({ openedAt: 1 }).toArray()
const untilPast = (height: number) =>
  vi.waitFor(async () => expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(height), PATIENCE)
const untilHeadSoon = async () => untilPast(await stage.height())
const inner = (amount: number) => ({ key: expect.stringMatching(/:i:/), amount: String(amount) })
const sent = (amount: bigint | number) => ({ key: expect.stringMatching(/:n$/), amount: String(amount) })

/** A scanner that reads through a node that lies about the blocks of `heights`. */
function scanThrough(url: string) {
  return stage.scan(source(clientOf(null, [url])))
}

/** The next block, in which a contract pays 5 wei to the watched address and 7 are sent to it. */
async function mineTwoPayments(): Promise<number> {
  await send(7n, WATCHED.address)
  await send(5n)
  await stage.chain.mine()
  return await stage.height()
}

describe('a block whose trace is 80 MB', () => {
  // Guarantee: one cheap transaction stops no payment of anybody, in its block or after it.
  it('holds up no payment, neither in it nor after it', async () => {
    await waitForEther()
    stage.scan()
    await untilHead()
    await mined(TRACE_BOMB)
    const bomb = await mineTwoPayments()
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 1_500_000n })
    await send(ETHER, WATCHED.address)
    await stage.chain.mine(CONFIRMATIONS)
    await untilHeadSoon()
    await stage.untilPayments([
      { ...sent(7), state: 'confirmed', height: bomb },
      { ...inner(5), state: 'confirmed', height: bomb },
      { ...sent(ETHER), state: 'confirmed', height: bomb + 1 },
      { key: expect.stringMatching(/:t:/), amount: '1500000', state: 'confirmed', height: bomb + 1 },
    ])
    expect(await rows()).toEqual([])
  })

  // Guarantee: money that only such a transaction moves is credited by balance, and a person reads where it came from.
  it('that pays an invoice in the same transaction credits it and says so', async () => {
    const invoiceId = await waitForEther()
    stage.scan()
    await untilHead()
    const txHash = await mined(payingBomb(WATCHED.address, 9))
    const height = await mineTwoPayments()
    await stage.chain.mine(CONFIRMATIONS)
    await untilHeadSoon()
    await stage.untilPayments([
      { ...sent(7), state: 'confirmed', height },
      { ...increase(14n), state: 'confirmed', height },
    ])
    const { hash } = (await stage.chain.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])) as {
      hash: string
    }
    expect(await rows()).toMatchObject([{ invoiceId, paymentKey: increase(14n).key, mode: 'test', open: true }])
    const [row] = await rows()
    for (const part of [txHash, `Block ${height}`, hash, WATCHED.address, '0.000000000000000014 ETH']) {
      expect(row?.['detail']).toContain(part)
    }
  })

  deepTest('that is the head when a scanner starts tells nothing about whether the node offers traces', async () => {
    await waitForEther()
    await mined(TRACE_BOMB)
    const height = await mineTwoPayments()
    stage.scan()
    await vi.waitFor(
      async () =>
        expect(await stage.payments()).toMatchObject([
          { ...sent(7), height },
          { ...inner(5), height },
        ]),
      PATIENCE,
    )
  })

  it('one after the other hold up nobody', async () => {
    await waitForEther()
    stage.scan()
    await untilHead()
    for (const _block of [1, 2, 3]) {
      await mined(payingBomb(WATCHED.address, 9))
      await stage.chain.mine()
    }
    await untilHeadSoon()
    expect(await credited()).toEqual([9n, 9n, 9n])
    expect(await rows()).toHaveLength(3)
  })

  // Guarantee: one node alone cannot invent a rise, on a network whose ledger is traces as well.
  const second = [
    [false, 'detected'],
    [true, 'confirmed'],
  ] as const
  it.each(sampleOf(second, 1))('confirms what a second node shows as well: %s', async (agrees, state) => {
    await waitForEther()
    const other = await lying((call, truth) =>
      !agrees && asksBalances(call) && truth.result !== undefined ? { result: `0x${'0'.repeat(64)}` } : truth,
    )
    stage.scan(source(clientOf(null, [stage.chain.url, other])))
    await untilHead()
    await mined(payingBomb(WATCHED.address, 9))
    await stage.chain.mine(CONFIRMATIONS + 1)
    await untilHeadSoon()
    await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ ...increase(9n), state }]), PATIENCE)
  })

  it('that is replaced by another block gives the payment its key back', async () => {
    await waitForEther()
    const before = await stage.chain.rpc('evm_snapshot', [])
    stage.scan()
    await untilHead()
    await mined(payingBomb(WATCHED.address, 9))
    await stage.chain.mine()
    await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([increase(9n)]), PATIENCE)
    await stage.chain.rpc('evm_revert', [before])
    await stage.chain.rpc('evm_increaseTime', [60])
    await stage.chain.mine(2)
    await mined(payingBomb(WATCHED.address, 9))
    await stage.chain.mine(CONFIRMATIONS)
    const height = (await stage.height()) - CONFIRMATIONS + 1
    await vi.waitFor(
      async () => expect(await stage.payments()).toEqual([{ ...increase(9n), state: 'confirmed', height }]),
      PATIENCE,
    )
  })
})

describe('a block that a node cannot trace', () => {
  let height: number
  let hidden: readonly string[]
  const hides: Lie = (call, truth) => (asksTraces(call, height, hidden) ? OUT_OF_MEMORY : truth)
  beforeEach(async () => {
    await waitForEther()
    hidden = []
    height = -1
  })
  /** Mines the two payments; the traces of the whole block are hidden, and with `all` those of each transaction. */
  async function mineHidden(all: boolean): Promise<void> {
    height = (await stage.height()) + 1
    await mineTwoPayments()
    const block = (await stage.chain.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])) as {
      transactions: string[]
    }
    hidden = all ? block.transactions : []
  }

  const answers: readonly [string, RpcAnswer | null][] = [
    ['an error about its memory', OUT_OF_MEMORY],
    ['status 413', { status: 413 }],
    ['status 502 of a proxy', { status: 502 }],
    ['a lost connection', null],
    ['traces of another form', { result: [{ type: 7 }] }],
    ['traces that lack a transaction', { result: [] }],
  ]
  it.each(sampleOf(answers, 1))('with %s is read transaction by transaction', async (_what, answer) => {
    const url = await lying((call, truth) => {
      if (!asksTraces(call, height)) return truth
      if (answer === null) throw new Error('cut')
      return answer
    })
    scanThrough(url)
    await untilHead()
    await mineHidden(false)
    await stage.chain.mine()
    await untilHeadSoon()
    expect(await stage.payments()).toEqual([
      { ...sent(7), state: 'detected', height },
      { ...inner(5), state: 'detected', height },
    ])
    expect(await rows()).toEqual([])
  })

  it('and whose transactions it cannot trace either is read by balances', async () => {
    const url = await lying(hides)
    scanThrough(url)
    await untilHead()
    await mineHidden(true)
    await untilHeadSoon()
    expect(await stage.payments()).toEqual([
      { ...sent(7), state: 'detected', height },
      { ...increase(5n), state: 'detected', height },
    ])
    expect(await rows()).toHaveLength(1)
  })

  it('is traced by the next node of the network', async () => {
    const url = await lying(hides)
    stage.scan(source(clientOf(null, [url, stage.chain.url])))
    await untilHead()
    await mineHidden(true)
    await untilHeadSoon()
    expect(await stage.payments()).toMatchObject([sent(7), inner(5)])
    expect(await rows()).toEqual([])
  })

  it('does not keep the others of its batch from being traced', async () => {
    const url = await lying(hides)
    await send(1n)
    await stage.chain.mine(3)
    await mineHidden(true)
    await send(2n)
    await stage.chain.mine(3)
    scanThrough(url)
    await untilHeadSoon()
    expect(await stage.payments()).toMatchObject([inner(1), sent(7), increase(5n), inner(2)])
  })

  // Guarantee: whichever node reads a block first, and wherever a scanner dies, money is credited once.
  it.each(['balances first', 'traces first'])(
    'and is read again by another node is credited once: %s',
    async (first) => {
      const url = await lying(hides)
      const ways = [url, stage.chain.url]
      if (first !== 'balances first') ways.reverse()
      await mineHidden(true)
      for (const way of ways) {
        const { scanner, died } = dieBeforeCursor(way)
        await died()
        await scanner.stop()
        expect((await stage.cursor())?.height ?? 0).toBeLessThan(height)
      }
      stage.scan(source(clientOf(null, [ways[0] ?? ''])))
      await untilHeadSoon()
      expect(await credited()).toEqual([5n, 7n])
      expect(await rows()).toHaveLength(first === 'balances first' ? 1 : 0)
    },
  )

  /** A scanner that dies between the payments and the cursor. */
  function dieBeforeCursor(url: string) {
    const killed = vi.fn()
    const cursors: typeof stage.deps.cursors = {
      ...stage.deps.cursors,
      async advance(...asked) {
        if (asked[3].height === undefined || asked[3].height < height) return stage.deps.cursors.advance(...asked)
        killed()
        throw new Error('killed')
      },
    }
    const scanner = stage.scan({ ...source(clientOf(null, [url])) }, { cursors })
    return { scanner, died: () => vi.waitUntil(() => killed.mock.calls.length > 0, PATIENCE) }
  }

  it('nor read balances of is not passed, and the failure names it', async () => {
    const url = await lying((call, truth) => (asksBalances(call) ? OUT_OF_MEMORY : hides(call, truth)))
    const client = clientOf(null, [url])
    await mineHidden(true)
    const watches = stage.source().createIndex()
    watches.add(WATCHED.matchKey)
    const scan = () => client.scan(height, height, watches)
    await expect(scan()).rejects.toMatchObject({ block: { height, method: 'trace_block' } })
    await expect(scan()).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: {
        height,
        hash: expect.stringMatching(/^0x/),
        method: 'eth_call',
        reason: expect.stringContaining('127.0.0.1'),
      },
    })
  })

  it('with a transaction whose receipt is missing is not passed', async () => {
    const url = await lying((call, truth) =>
      call.method === 'eth_getTransactionReceipt' && hidden.includes(String(call.params[0]))
        ? { result: null }
        : hides(call, truth),
    )
    const client = clientOf(null, [url])
    await mineHidden(true)
    const watches = stage.source().createIndex()
    watches.add(WATCHED.matchKey)
    const scan = () => client.scan(height, height, watches)
    await expect(scan()).rejects.toMatchObject({ block: { height, method: 'eth_getTransactionReceipt' } })
    await expect(scan()).rejects.toMatchObject({ name: 'BlockUnreadable', block: { height } })
  })
})
