import { expect, it, vi } from 'vitest'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { knownUntil } from '#shared/usecases/networks/known-until.ts'
import { USUAL_LOOKS } from '#shared/usecases/scanning/thrifty-pace.ts'
import { ETHER, increase, readsFunds, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import type { Lie } from '#test/support/lying-node.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const stores = useStores()
const { stage, source, clientOf, untilHead, send, lying, waitForEther } = useBalanceStage(stores)

/** Blocks whose state go-ethereum keeps. */
const STATE_BLOCKS = 128
const PRUNED = { error: { code: -32_000, message: 'required historical state unavailable (reexec=128)' } }
const TOKENS = { key: expect.stringMatching(/:t:/), amount: '1500000' }

const rows = () => stores.db.connection.collection('exceptions').find({ kind: 'unexplained_balance' }).toArray()

/** An own node with traces that has the state of the newest 128 blocks alone; traces need that state too. Of the rest `otherwise` decides. */
async function defaultGeth(otherwise: Lie = (_, truth) => truth): Promise<string> {
  const heights = new Map<string, number>()
  const head = await stage.height()
  for (let height = 0; height <= head; height += 1) {
    const block = await stage.chain.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])
    heights.set((block as { hash: string }).hash, height)
  }
  const heightOf = (block: unknown): number | undefined => {
    if (typeof block !== 'string') return heights.get((block as { blockHash?: string } | undefined)?.blockHash ?? '')
    return /^0x/.test(block) ? Number(block) : undefined
  }
  return lying((call, truth) => {
    const { method, params } = call
    const isState = readsFunds(call) || method === 'eth_call' || method === 'eth_getTransactionCount'
    const height = method.includes('trace') ? heightOf(params[0]) : isState ? heightOf(params[1]) : undefined
    return height !== undefined && head - height >= STATE_BLOCKS ? PRUNED : otherwise(call, truth)
  })
}

async function waitForTokens(status: 'pending' | 'expired', at: number, expiresAt: number): Promise<void> {
  const method = samplePaymentMethod(WATCHED.matchKey, at, { asset: 'usdt_ethereum' })
  const paymentMethods = [{ ...method, address: WATCHED.address }]
  const nextActionAt = status === 'pending' ? expiresAt : null
  const state = { paymentMethods, status, expiresAt, nextActionAt }
  await createInvoiceRepository(stores.db).insert(sampleInvoice(stores.runtime.random, { at, number: 1, state }))
}

const payTokens = () => stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 1_500_000n })

// Guarantee: a node that offers traces is never a worse node: after a pause of more blocks than it keeps state of, blocks are credited as ever.
it('a default geth with traces goes on after a pause, and the inbox names the gap', async () => {
  const first = stage.scan(source())
  await untilHead()
  await first.stop()
  const from = (await stage.height()) + 1
  await waitForTokens('pending', Date.now() - 1_000, Date.now() + 3_600_000)
  await payTokens()
  await stage.chain.mine()
  await send(7n, WATCHED.address)
  await stage.chain.mine(STATE_BLOCKS + 7)
  stage.scan(source(clientOf([await defaultGeth()])))
  await untilHead()
  await stage.untilPayments([TOKENS, { amount: '7' }])
  await send(5n)
  await stage.chain.mine()
  await stage.untilPayments([TOKENS, { amount: '7' }, increase(5n)])
  expect((await stage.cursor())?.trouble ?? null).toBeNull()
  expect(await rows()).toMatchObject([{ workspaceId: null, detail: expect.stringContaining(`before block ${from} `) }])
})

// Guarantee: what was awaited before the pause has a start, so that nothing of the pause is lost, coins inside calls included.
it('the same node shows the sum of what contracts paid in the pause', async () => {
  await waitForEther()
  const first = stage.scan(source())
  await untilHead()
  await first.stop()
  await send(5n)
  await stage.chain.mine()
  await send(6n)
  await stage.chain.mine(STATE_BLOCKS + 7)
  stage.scan(source(clientOf([await defaultGeth()])))
  await untilHead()
  await stage.untilPayments([increase(11n)])
  expect(await rows()).toEqual([])
})

// Guarantee: what a contract paid in time during such a pause is known before its deadline passes, and counts as in time, also where the invoice was opened then.
it.each([
  ['before the pause', 'every block is read', true],
  ['during the pause', 'every block is read', false],
  ['before the pause', 'balances choose the blocks', true],
  ['during the pause', 'balances choose the blocks', false],
] as const)('coins of an invoice opened %s pass no deadline unseen where %s', async (_, way, isOpenedBefore) => {
  const looks = { endedLookMs: 1e9, allLookMs: 1e9, weekLookMs: 1e9, monthLookMs: 1e9 }
  const change = way === 'every block is read' ? { looks: USUAL_LOOKS } : { thrifty: briskPace(looks) }
  const at = Date.now()
  const expiresAt = at + 60_000
  const open = async () => {
    await waitForEther(at)
    await stores.db.connection.collection('invoices').updateOne({}, { $set: { expiresAt: new Date(expiresAt) } })
  }
  await stage.chain.mine()
  if (isOpenedBefore) await open()
  const first = stage.scan(source(undefined, change))
  // Without an invoice it rests.
  const isRead = async () => expect((await stage.cursor())?.looks ?? null).not.toBeNull()
  await (isOpenedBefore || way === 'every block is read' ? untilHead() : vi.waitFor(isRead, { timeout: 20_000 }))
  await first.stop()
  if (!isOpenedBefore) await open()
  await stage.chain.rpc('evm_increaseTime', [20])
  await send(5n * ETHER)
  await stage.chain.mine()
  await stage.chain.rpc('evm_increaseTime', [120])
  await stage.chain.mine(STATE_BLOCKS + 47)
  const clock = { ...stage.deps.clock, now: () => Date.now() + 3_600_000 }
  const { cursors } = stage.deps
  const passed: number[] = []
  const advance: typeof cursors.advance = async (...given) => {
    const isMoved = await cursors.advance(...given)
    const cursor = await stage.cursor()
    if (cursor !== null && knownUntil(cursor, 12_000) >= expiresAt) passed.push((await stage.payments()).length)
    return isMoved
  }
  const url = await defaultGeth()
  stage.scan(source(clientOf([url]), { batchMax: 20, ...change }), { clock, cursors: { ...cursors, advance } })
  await vi.waitFor(() => expect(passed.length).toBeGreaterThan(0), { timeout: 20_000 })
  expect(passed.every((count) => count === 1)).toBe(true)
  expect(await stage.payments()).toMatchObject([increase(5n * ETHER)])
  const [payment] = await stores.db.connection.collection('payments').find().toArray()
  expect(payment?.['firstSeenAt'].getTime()).toBeLessThanOrEqual(expiresAt)
})

// Guarantee: a network whose nodes have no state at all does not stand still for it: nothing that is still to be read would show more.
it('deadlines wait at a node without any state up to its head alone', async () => {
  await waitForEther()
  const first = stage.scan(source())
  await untilHead()
  await first.stop()
  await stage.chain.mine(50)
  const stateless = await lying((call, truth) => (readsFunds(call) ? PRUNED : truth))
  const { cursors } = stage.deps
  const holds: (number | null)[] = []
  const advance: typeof cursors.advance = async (...given) => {
    if (given[3].unproven !== undefined) holds.push(given[3].unproven)
    return cursors.advance(...given)
  }
  stage.scan(source(clientOf([stateless]), { batchMax: 20 }), { cursors: { ...cursors, advance } })
  await untilHead()
  await vi.waitFor(() => expect(holds).toEqual([expect.any(Number), null]), { timeout: 20_000 })
  expect((await stage.cursor())?.unproven ?? null).toBeNull()
})

// Guarantee: the same where blocks are chosen: late money is found although the looks begin at a block whose state is gone.
it('looks at balances read blocks whose state a node with traces has dropped', async () => {
  const now = Date.now()
  await waitForTokens('expired', now - 3_600_000, now - 600_000)
  const thrifty = { thrifty: briskPace({ endedLookMs: 3_600_000, allLookMs: 3_600_000 }) }
  const first = stage.scan(source(clientOf(), thrifty))
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), { timeout: 20_000 })
  await first.stop()
  await payTokens()
  await stage.chain.mine(STATE_BLOCKS + 7)
  const eager = { thrifty: briskPace({ endedLookMs: 500, allLookMs: 500 }) }
  stage.scan(source(clientOf([await defaultGeth()]), eager))
  await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([TOKENS]), {
    timeout: 60_000,
    interval: 100,
  })
}, 90_000)

// Guarantee: late money reaches a person although the node in use conceals it at every hourly look, as long as another node shows it.
it('looks at addresses of invoices that ended take the word of every node', async () => {
  const now = Date.now()
  await waitForTokens('expired', now - 3_600_000, now - 600_000)
  const never = { allLookMs: 1e9, weekLookMs: 1e9, monthLookMs: 1e9 }
  const first = stage.scan(source(clientOf(), { thrifty: briskPace({ ...never, endedLookMs: 1e9 }) }))
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), { timeout: 20_000 })
  await first.stop()
  const before = `0x${(await stage.height()).toString(16)}`
  let lies = 0
  const liar = await lying(async (call, truth) => {
    if (call.method === 'eth_getLogs') return { result: [] }
    if (!readsFunds(call) || typeof truth.result !== 'string') return truth
    lies += 1
    const then = (await stage.chain.rpc(call.method, [call.params[0], before])) as string
    return { result: call.method === 'eth_call' ? truth.result.slice(0, 66) + then.slice(66) : then }
  })
  await payTokens()
  await stage.chain.mine(70)
  stage.scan(source(clientOf([liar, stage.chain.url]), { thrifty: briskPace({ ...never, endedLookMs: 500 }) }))
  await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([TOKENS]), { timeout: 30_000 })
  expect(lies).toBeGreaterThan(0)
}, 60_000)

// Guarantee: coins inside calls are found too, although the last blocks of such a look have balances again and the scanner ends in between.
it('looks at balances find what contracts paid in blocks whose state was dropped', async () => {
  const now = Date.now()
  await waitForTokens('expired', now - 3_600_000, now - 600_000)
  const resting = { thrifty: briskPace({ endedLookMs: 3_600_000, allLookMs: 3_600_000 }) }
  const first = stage.scan(source(clientOf(), resting))
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), { timeout: 20_000 })
  await first.stop()
  await send(ETHER)
  await stage.chain.mine(STATE_BLOCKS + 47)
  const eager = { thrifty: briskPace({ endedLookMs: 500, allLookMs: 500 }), batchMax: 60 }
  stage.scan(source(clientOf([await defaultGeth()]), eager))
  await stage.untilPayments([increase(ETHER)])
  expect(await rows()).toEqual([])
}, 90_000)

// Guarantee: a stranger who pays a few cents to an old address chooses neither how much is read nor what is lost: the inbox has the money.
it('a look over more blocks than its budget reads none of them, and the inbox names the money', async () => {
  const now = Date.now()
  await waitForTokens('expired', now - 3_600_000, now - 600_000)
  const first = stage.scan(source(clientOf(), { thrifty: briskPace({ endedLookMs: 3_600_000, allLookMs: 3_600_000 }) }))
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), { timeout: 20_000 })
  await first.stop()
  await payTokens()
  for (let mined = 0; mined < 2_600; mined += 200) await stage.chain.mine(200)
  let whole = 0
  const limited = await defaultGeth(({ method, params }, truth) => {
    if (method === 'eth_getBlockByNumber' && params[1] === true) whole += 1
    const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
    const isWide = method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) >= 10
    return isWide ? { error: { code: -32_602, message: 'eth_getLogs is limited to a 10 block range' } } : truth
  })
  stage.scan(source(clientOf([limited]), { thrifty: briskPace({ endedLookMs: 500, allLookMs: 500 }) }))
  await vi.waitFor(
    async () =>
      expect(await rows()).toMatchObject([
        { detail: expect.stringMatching(/holds 1500000 base units of usdt_ethereum more/) },
      ]),
    { timeout: 60_000, interval: 100 },
  )
  expect(whole).toBeLessThan(200)
}, 90_000)

// Guarantee: blocks that no node has any more end no look: the inbox says after an hour what cannot be seen, and the next look begins behind them.
it('looks go on behind blocks that were dropped before they were read', async () => {
  const now = Date.now()
  await waitForTokens('expired', now - 3_600_000, now - 600_000)
  const listed = { $set: { heldBy: ['a list'] } }
  await stores.db.connection.collection('addresses').updateOne({ matchKey: WATCHED.matchKey }, listed)
  const first = stage.scan(source(clientOf(), { thrifty: briskPace({ endedLookMs: 3_600_000, allLookMs: 3_600_000 }) }))
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), { timeout: 20_000 })
  await payTokens()
  await stage.chain.mine(2 * STATE_BLOCKS)
  const keptFrom = (await stage.height()) - STATE_BLOCKS
  await stage.untilHeight(keptFrom)
  await first.stop()
  const isDropped = ({ method, params }: Parameters<Lie>[0]) => {
    const [at] = params as readonly (string | { readonly fromBlock?: string })[]
    const height = Number(typeof at === 'string' ? at : at?.fromBlock)
    return /^eth_get(BlockBy|Logs|BlockReceipts)/.test(method) && height > 0 && height < keptFrom
  }
  let refused = 0
  const node = await defaultGeth((call, truth) => {
    if (!isDropped(call)) return truth
    refused += 1
    return { error: { code: 4_444, message: 'pruned history unavailable' } }
  })
  let laterMs = 0
  const clock = { ...stage.deps.clock, now: () => Date.now() + laterMs }
  stage.scan(source(clientOf([node]), { thrifty: briskPace({ endedLookMs: 500, allLookMs: 500 }) }), { clock })
  await vi.waitFor(() => expect(refused).toBeGreaterThan(0), { timeout: 20_000 })
  expect(await rows()).toEqual([])
  await vi.waitFor(
    async () => {
      laterMs += 600_000
      expect(await rows()).toMatchObject([{ _id: expect.stringMatching(/looks_not_compared$/) }])
    },
    { timeout: 60_000, interval: 1_000 },
  )
  await vi.waitFor(async () => expect((await stage.cursor())?.looks?.ended.height).toBeGreaterThanOrEqual(keptFrom), {
    timeout: 20_000,
  })
}, 150_000)
