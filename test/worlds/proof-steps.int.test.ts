import { describe, expect, it } from 'vitest'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { proveDeadlines } from '#shared/usecases/scanning/prove-deadlines.ts'
import type { ScanSession } from '#shared/usecases/scanning/scan-session.ts'
import { scanTick } from '#shared/usecases/scanning/scan-tick.ts'
import { readRange } from '#shared/usecases/scanning/thrifty-range.ts'
import { thriftyTick } from '#shared/usecases/scanning/thrifty-tick.ts'
import { readsFunds } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { deepTest } from '#test/support/depth.ts'
import type { Lie } from '#test/support/lying-node.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'
import { HONEST } from '#test/support/world-node.ts'
import type { Account } from './payers.ts'
import { MILLI, STEPS, USDT, useStepStage } from './step-stage.ts'

const stores = useStores()
const { story, payments, invoices, begin, hideAll, liar, readUp, session, proveAll, amounts, pay, sendOn, twoNodes } =
  useStepStage(stores)

/** A node to which the first token gives no balance at this block. */
const silentToken = (hash: () => string): Lie => {
  const isRequested = (params: readonly unknown[]) =>
    (params[1] as { blockHash?: string } | undefined)?.blockHash === hash()
  return (call, truth) => {
    const { result } = truth
    if (!readsFunds(call) || typeof result !== 'string' || result.length < 2 + 64 * 4 || !isRequested(call.params)) {
      return truth
    }
    // A word each for block, coin, USDT, USDC.
    return { result: `${result.slice(0, 130)}${'f'.repeat(64)}${result.slice(194)}` }
  }
}

/** A node that has nothing of the first token at any account: a word for the block, then one each for coin, USDT and USDC. */
const oldTokens: Lie = (call, truth) => {
  const { result } = truth
  if (!readsFunds(call) || typeof result !== 'string' || result.length < 2 + 64 * 4) return truth
  const words = result.slice(2).match(/.{64}/g) ?? []
  return { result: `0x${words.map((word, at) => (at % 3 === 2 ? '0'.repeat(64) : word)).join('')}` }
}

describe('the proof of a deadline', () => {
  // Guarantee: a figure that could not be read proves nothing, at either end.
  it('takes a first figure that could not be read for no figure', async () => {
    const account = await story.open('pending', 'usdt_ethereum')
    await begin()
    await story.payers.pay(account, 'usdt_ethereum', 5n * USDT)
    await story.stage.chain.mine()
    await hideAll()
    const first = { 'starts.0.figures.1': null }
    await stores.db.connection.collection('coin_balances').updateOne({ matchKey: account.matchKey }, { $set: first })
    await proveAll(await session(await twoNodes()))
    expect(await amounts()).toEqual([5n * USDT])
  })

  it('takes a newest figure that could not be read for no figure', async () => {
    const account = await story.open('pending', 'usdt_ethereum')
    await begin()
    await story.payers.pay(account, 'usdt_ethereum', 5n * USDT)
    await story.stage.chain.mine()
    await hideAll()
    let hash = ''
    const one = await session(await twoNodes(silentToken(() => hash)))
    hash = one.cursor.hash
    await proveAll(one)
    expect(await amounts()).toEqual([5n * USDT])
  })

  // Guarantee: coins that came and were sent on are found by the number of the account's transactions.
  it('looks for coins where nothing but the number of sent transactions differs', async () => {
    const account = await story.open('pending', 'eth_ethereum')
    await begin()
    await pay(account, MILLI)
    await sendOn(account, MILLI)
    await hideAll()
    await proveAll(await session(await twoNodes()))
    expect(await amounts()).toEqual([MILLI])
  })

  // Guarantee: an account that has less than at first may have been paid all the same.
  it('looks for tokens where more left than came', async () => {
    const account = await story.open('pending', 'usdt_ethereum')
    await story.payers.pay(account, 'usdt_ethereum', 50n * USDT)
    await story.stage.chain.mine(20)
    await stores.db.connection
      .collection('invoices')
      .updateMany({}, { $set: { 'paymentMethods.$[].from': new Date() } })
    await begin()
    await story.payers.pay(account, 'usdt_ethereum', 20n * USDT)
    await story.stage.chain.mine()
    await story.payers.collect(account, 'usdt_ethereum', 50n * USDT)
    await story.stage.chain.mine()
    await hideAll()
    await proveAll(await session(await twoNodes()))
    expect(await amounts()).toContain(20n * USDT)
  })
})

describe('the proof by payments that are stored', () => {
  // Guarantee: strangers who open invoices do not make a proof slower than its requests to nodes.
  it('reads the store once for all accounts of a page and all their assets', async () => {
    const accounts = [await story.open('pending', 'eth_ethereum'), await story.open('pending', 'usdt_ethereum')]
    await begin()
    for (const account of accounts) await pay(account, MILLI)
    await readUp()
    const one = await session(await twoNodes())
    let reads = 0
    const { deps } = one
    const payments: typeof deps.payments = {
      ...deps.payments,
      listInBlocks(scope) {
        reads += 1
        return deps.payments.listInBlocks(scope)
      },
    }
    await proveAll({ ...one, deps: { ...deps, payments } })
    expect(reads).toBe(1)
    expect(await amounts()).toEqual([MILLI, MILLI])
  })

  // Guarantee: what came before an account was first read explains nothing that came later.
  it('counts none of the block where the account was first read', async () => {
    const account = await story.open('pending', 'eth_ethereum')
    await readUp()
    await pay(account, MILLI)
    await begin()
    const first = (await story.stage.height()) - 1
    await pay(account, MILLI)
    await readUp()
    await payments().deleteMany({ 'block.height': { $gt: first } })
    await proveAll(await session())
    expect(await amounts()).toEqual([MILLI, MILLI])
  })

  // Guarantee: what one node says alone about balances is compared with all of its logs.
  it('finds every token payment in the logs of a single node that shows old balances', async () => {
    const account = await story.open('pending', 'usdt_ethereum')
    await begin()
    for (const sum of [5n * USDT, 6n * USDT]) {
      await story.payers.pay(account, 'usdt_ethereum', sum)
      await story.stage.chain.mine()
    }
    await hideAll()
    await proveAll(await session([await liar(oldTokens)]))
    expect(await amounts()).toEqual([5n * USDT, 6n * USDT])
  })
})

// Guarantee: no deadline passes while an earlier one waits for its proof.
it('the first of the deadlines that one range passes waits for its proof', async () => {
  const [first, second] = [await story.open('pending', 'eth_ethereum'), await story.open('pending', 'eth_ethereum')]
  await begin()
  const one = await session()
  one.cursor = { ...one.cursor, unproven: null }
  const ends = [one.cursor.time + 60_000, one.cursor.time + 61_000] as const
  for (const [at, { matchKey }] of [second, first].entries()) {
    const expiresAt = new Date(ends[at] ?? 0)
    await invoices().updateOne({ 'paymentMethods.matchKey': matchKey }, { $set: { expiresAt } })
  }
  await story.stage.chain.rpc('evm_setNextBlockTimestamp', [Math.ceil(ends[1] / 1_000) + 2])
  await story.stage.chain.mine()
  const clock = { now: () => ends[1] + 3_000 }
  await scanTick(Object.assign(one, { deps: { ...one.deps, clock } }), readRange)
  expect(one.cursor.unproven).toBe(ends[0])
})

// Guarantee: a payment that was stored before the cursor could move is not taken back because its coins were sent on since.
it('keeps a payment that was stored by a step that failed, and whose coins were sent on since', async () => {
  const account = await story.open('pending', 'eth_ethereum')
  await begin()
  const one = await session()
  const { deps } = one
  const cursors = { ...deps.cursors, advance: () => Promise.reject(new Error('no primary')) }
  await pay(account, MILLI)
  Object.assign(one, { deps: { ...deps, cursors } })
  await expect(scanTick(one, readRange)).rejects.toThrow('no primary')
  expect(await amounts()).toEqual([MILLI])
  Object.assign(one, { deps })
  await sendOn(account, MILLI)
  await scanTick(one, readRange)
  expect(one.cursor.height).toBe(await story.stage.height())
  expect(await amounts()).toEqual([MILLI])
})

describe('a proof of several steps', () => {
  // Guarantee: dust by the hundred makes no step longer: what others pay is stored between two of them.
  it('reads no more blocks in a step than any other step, however many show a stranger in their logs', async () => {
    const account = await story.open('pending', 'usdt_ethereum')
    await begin()
    for (let count = 0; count < 12; count += 1) {
      await story.payers.pay(account, 'usdt_ethereum', 1n)
      await story.stage.chain.mine()
    }
    await hideAll()
    let blocks = 0
    const counting = await liar(({ method, params }, truth) => {
      if (method === 'eth_getBlockByNumber' && params[1] === true) blocks += 1
      return truth
    })
    let beats = 0
    const beat = () => {
      beats += 1
    }
    const one = Object.assign(await session([counting], 5), { pulse: { beat } })
    const steps: unknown[] = []
    for (let step = 0; step < STEPS && one.cursor.unproven != null; step += 1) {
      blocks = 0
      steps.push({ isSpent: await proveDeadlines(one), blocks })
    }
    expect(steps).toEqual([
      { isSpent: true, blocks: 5 },
      { isSpent: true, blocks: 5 },
      { isSpent: false, blocks: 2 },
    ])
    // The loop shows that it works, however slowly a node answers.
    expect(beats).toBeGreaterThanOrEqual(12)
    expect(await amounts()).toHaveLength(12)
  })

  /** Coins come in their own blocks and some are sent on, so that each of these blocks is read again. */
  async function busy(account: Account): Promise<readonly bigint[]> {
    await pay(account, MILLI, 2n * MILLI)
    await sendOn(account, MILLI)
    return [MILLI, 2n * MILLI]
  }

  /** Steps until the proof has come to a block. */
  async function proveUpTo(one: ScanSession, height: number): Promise<void> {
    const hasCome = () => [...(one.proving?.values() ?? [])].some((place) => place.height >= height)
    for (let step = 0; step < STEPS && !hasCome(); step += 1) expect(await proveDeadlines(one)).toBe(true)
    expect(hasCome()).toBe(true)
  }

  // Guarantee: a node that invents logs costs one reading of each block, and hides nothing behind them.
  it('finds what was paid behind blocks of which a node invents logs', async () => {
    const account = await story.open('pending', 'usdt_ethereum')
    await begin()
    const height = await story.stage.height()
    await story.stage.chain.mine(8)
    await story.payers.pay(account, 'usdt_ethereum', 5n * USDT)
    await story.stage.chain.mine()
    await hideAll()
    const inventing = await liar(({ method, params }, truth) => {
      const [question] = params as [{ topics?: unknown[]; fromBlock?: string }]
      if (method !== 'eth_getLogs' || question.topics?.length !== 3 || question.fromBlock === undefined) return truth
      const [real] = truth.result as [object?]
      if (real === undefined) return truth
      const invented = Array.from({ length: 7 }, (_, at) => ({
        ...real,
        blockNumber: `0x${(height + 1 + at).toString(16)}`,
      }))
      return { result: [...invented, real] }
    })
    await proveAll(await session([inventing], 2))
    expect(await amounts()).toEqual([5n * USDT])
  })

  it('begins again when the block where it stopped was replaced', async () => {
    const account = await story.open('pending', 'eth_ethereum')
    await begin()
    const sums = await busy(account)
    await pay(account, 3n * MILLI)
    const stopped = await story.stage.height()
    await pay(account, 4n * MILLI)
    await hideAll()
    const one = await session(undefined, 1)
    await proveUpTo(one, stopped)
    await story.stage.chain.reorg(2)
    for (let step = 0; step < STEPS && one.cursor.unproven != null; step += 1) await thriftyTick(one)
    expect({ unproven: one.cursor.unproven ?? null, reason: one.unprovenReason ?? null }).toEqual({
      unproven: null,
      reason: null,
    })
    expect(await amounts()).toEqual(sums)
  })

  // Guarantee: a deadline that comes in while others are proven is proven from its own start.
  it('looks through all blocks of an invoice that is added meanwhile', async () => {
    const [first, second] = [await story.open('pending', 'eth_ethereum'), await story.open('pending', 'eth_ethereum')]
    await begin()
    await pay(second, 7n * MILLI)
    const passed = await story.stage.height()
    const sums = await busy(first)
    await hideAll()
    const one = await session(undefined, 1)
    const expiresAt = new Date(one.cursor.unproven ?? 0)
    const end = ({ matchKey }: Account) =>
      invoices().updateOne({ 'paymentMethods.matchKey': matchKey }, { $set: { expiresAt } })
    await end(first)
    await proveUpTo(one, passed + 1)
    await end(second)
    await proveAll(one)
    expect(await amounts()).toEqual([...sums, 7n * MILLI])
  })

  // Guarantee: accounts of one page do not put those of another one back.
  deepTest('ends although accounts of several pages need several steps', async () => {
    const first = await story.open('pending', 'eth_ethereum')
    await strangers(100)
    const last = await story.open('pending', 'eth_ethereum')
    await begin()
    const sums = [...(await busy(first)), ...(await busy(last))].sort((one, other) => (one < other ? -1 : 1))
    await hideAll()
    await proveAll(await session(undefined, 1))
    expect(await amounts()).toEqual(sums)
  })

  /** Invoices at addresses that nobody pays, whose deadlines are between those of the first and the last one. */
  async function strangers(count: number): Promise<void> {
    const row = { mode: 'test', family: 'evm', materialId: 'test:evm:strangers', watchedOn: [] } as const
    const keys = Array.from({ length: count }, (_, index) => (index + 1).toString(16).padStart(40, 'c'))
    const addresses = keys.map((matchKey, index) => ({ index, address: `0x${matchKey}`, matchKey, ...row }))
    await story.stage.deps.wallets.addDerived(row.materialId, addresses, count)
    const at = Date.now() - 1_000
    for (const [index, matchKey] of keys.entries()) {
      const method = { ...samplePaymentMethod(matchKey, at), claim: `stranger:${index}` }
      const expiresAt = at + 30 * 24 * 3_600_000
      const state = { paymentMethods: [method], status: 'pending', expiresAt, nextActionAt: expiresAt } as const
      const invoice = sampleInvoice(stores.runtime.random, { at, number: 1_000 + index, state })
      await createInvoiceRepository(stores.db).insert(invoice)
    }
  }
})

describe('the proof of accounts of every age', () => {
  /** Two accounts, the second of which is first read thirty blocks after the first one; gives the height of that. */
  async function twoAges(asset: 'eth_ethereum' | 'usdt_ethereum') {
    const [old, young] = [await story.open('pending', asset), await story.open('pending', asset)]
    await begin()
    await story.stage.chain.mine(30)
    await readUp()
    const cursor = await story.stage.cursor()
    const from = new Date((cursor?.time ?? 0) + briskPace().marginMs)
    const id = { 'paymentMethods.matchKey': young.matchKey }
    await invoices().updateOne(id, { $set: { 'paymentMethods.0.from': from } })
    const starts = stores.db.connection.collection('coin_balances')
    await starts.updateOne({ matchKey: young.matchKey }, { $unset: { starts: '' } })
    await story.stage.chain.mine()
    await readUp()
    return { old, young, since: cursor?.height ?? 0 }
  }

  /** A session at a node that has the states from this block on. */
  async function sessionWithStatesFrom(height: number): Promise<ScanSession> {
    story.node.become({ ...HONEST, stateBlocks: (await story.stage.height()) - height + 1 })
    return session([story.node.url])
  }

  // Guarantee: an invoice of yesterday hides nothing of one of this minute.
  it('places coins of a young one in their blocks although nobody has the balances of an old one any more', async () => {
    const { old, young, since } = await twoAges('eth_ethereum')
    for (const [account, sum] of [
      [old, MILLI],
      [young, 2n * MILLI],
      [young, 3n * MILLI],
    ] as const) {
      await story.payers.call(account, sum)
      await story.stage.chain.mine()
    }
    await sendOn(young, MILLI)
    await hideAll()
    await proveAll(await sessionWithStatesFrom(since))
    expect(await amounts()).toEqual([MILLI, 2n * MILLI, 3n * MILLI])
  })

  // Guarantee: the same where all balances are gone, and the day's budget is enough for the blocks of the young one alone.
  it('reads the blocks of a young one that sent something on although those of an old one are too many', async () => {
    const { old, young, since } = await twoAges('eth_ethereum')
    for (const account of [old, young]) {
      await pay(account, 2n * MILLI)
      await sendOn(account, MILLI)
    }
    await hideAll()
    const head = await story.stage.height()
    const one = await sessionWithStatesFrom(head)
    one.wholeBlocks = { left: head - since, since: one.deps.clock.now() }
    await proveAll(one)
    expect(await amounts()).toContain(2n * MILLI)
  })

  // Guarantee: the same for logs, which say as much as the balances of a single node.
  it('reads the logs of a young one although those of an old one take too many requests', async () => {
    const { young } = await twoAges('usdt_ethereum')
    await story.payers.pay(young, 'usdt_ethereum', 5n * USDT)
    await story.stage.chain.mine(10)
    await hideAll()
    const isWide = ([question]: readonly unknown[]): boolean => {
      const { fromBlock = '0x0', toBlock = '0x0' } = question as { fromBlock?: string; toBlock?: string }
      return Number(toBlock) > Number(fromBlock)
    }
    const narrow = await liar((call, truth) => {
      if (call.method !== 'eth_getLogs' || !isWide(call.params)) return oldTokens(call, truth)
      return { error: { code: -32_602, message: 'exceed max block range: 1' } }
    })
    await proveAll(await session([narrow]))
    expect(await amounts()).toEqual([5n * USDT])
  })
})
