import { expect, it } from 'vitest'
import type { ScanSession } from '#shared/usecases/scanning/scan-session.ts'
import { scanTick } from '#shared/usecases/scanning/scan-tick.ts'
import { freshState } from '#shared/usecases/scanning/thrifty-pace.ts'
import { readRange } from '#shared/usecases/scanning/thrifty-range.ts'
import { readsFunds } from '#test/support/balance-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'
import { MILLI, USDT, useStepStage } from './step-stage.ts'

const stores = useStores()
const { story, begin, invoices, liar, session, proveAll, amounts, pay } = useStepStage(stores)

/** A session of a scanner that pays attention, no deadline of which is near. */
async function attentive(url: string, batchMax?: number): Promise<ScanSession> {
  const one = await session([url], batchMax)
  one.cursor = { ...one.cursor, unproven: null }
  return Object.assign(one, { thrifty: freshState(Date.now(), briskPace({})) })
}

// Guarantee: a node that shows other coins at a block than were read there before missed something: no deadline passes before all are proven.
it('doubts what was read where a node shows other coins at the same block later', async () => {
  const account = await story.open('pending', 'eth_ethereum')
  await begin()
  let isStale = true
  const url = await liar((call, truth) => {
    const { result } = truth
    if (!isStale || !readsFunds(call) || typeof result !== 'string' || result.length < 130) return truth
    // The words after the block are those of the first account; coins come first.
    return { result: `${result.slice(0, 66)}${'0'.repeat(64)}${result.slice(130)}` }
  })
  const one = await attentive(url)
  await pay(account, MILLI)
  await scanTick(one, readRange)
  const { height, time } = one.cursor
  expect([height, await amounts()]).toEqual([await story.stage.height(), []])
  expect(one.cursor.unproven ?? null).toBeNull()
  isStale = false
  await story.stage.chain.mine()
  await scanTick(one, readRange)
  expect(one.cursor.unproven).toBe(time)
  await proveAll(one)
  expect(await amounts()).toEqual([MILLI])
})

// Guarantee: a range is not passed whose blocks do not contain what a token's balance gained.
it('passes no block of which a node withholds the logs, and stores its tokens when they are served', async () => {
  const account = await story.open('pending', 'usdt_ethereum')
  await begin()
  let isHiding = true
  const url = await liar(({ method, params }, truth) => {
    if (!isHiding) return truth
    const [question] = params as [{ fromBlock?: string; toBlock?: string }]
    if (method === 'eth_getLogs' && question.fromBlock !== question.toBlock)
      return { error: { code: -32_602, message: 'eth_getLogs is limited to a 1 range' } }
    if (method === 'eth_getLogs') return { result: [] }
    const isBlock = method.startsWith('eth_getBlockBy') && truth.result !== null
    return isBlock ? { result: { ...(truth.result as object), logsBloom: `0x${'0'.repeat(512)}` } } : truth
  })
  const one = await attentive(url)
  const { height } = one.cursor
  await story.stage.chain.mine(4)
  await story.payers.pay(account, 'usdt_ethereum', 5n * USDT)
  await story.stage.chain.mine(4)
  await expect(scanTick(one, readRange)).rejects.toThrow('grew by more than the blocks of the range contain')
  expect([one.cursor.height, await amounts()]).toEqual([height, []])
  isHiding = false
  await scanTick(one, readRange)
  expect([one.cursor.height > height, await amounts()]).toEqual([true, [5n * USDT]])
})

// Guarantee: balances are read once at a block where the budget of a step ended its range: they cost the same as at a head.
it('goes on from the balances of the block where a range was cut', async () => {
  const account = await story.open('pending', 'eth_ethereum')
  await begin()
  let reads: unknown[] = []
  const url = await liar((call, truth) => {
    if (readsFunds(call)) reads.push(call.params[1])
    return truth
  })
  const one = await attentive(url, 1)
  // The account's start is stored by its first step.
  await story.stage.chain.mine()
  await scanTick(one, readRange)
  await pay(account, MILLI)
  await story.stage.chain.mine(3)
  await scanTick(one, readRange)
  expect(one.cursor.height).toBe((await story.stage.height()) - 3)
  expect(await amounts()).toEqual([MILLI])
  const { hash, height } = one.cursor
  reads = []
  await scanTick(one, readRange)
  expect(one.cursor.height).toBe(await story.stage.height())
  expect(reads).not.toEqual([])
  expect(reads).not.toContainEqual({ blockHash: hash })
  expect(reads).not.toContain(`0x${height.toString(16)}`)
})

// Guarantee: work of many requests begins again when one of them fails, so no pause makes a step of more than about a hundred.
it('reads all logs of a long pause in steps', async () => {
  const account = await story.open('pending', 'usdt_ethereum')
  const hold = { kind: 'address', quarantineMs: 86_400_000, heldMs: 86_400_000, releasedAt: null }
  await invoices().updateOne({}, { $set: { 'paymentMethods.0.hold': hold } })
  await begin()
  let requests = 0
  const url = await liar(({ method, params }, truth) => {
    const [question] = params as [{ fromBlock?: string; toBlock?: string }]
    if (method !== 'eth_getLogs' || question.fromBlock === undefined) return truth
    requests += 1
    const isWide = Number(question.toBlock) - Number(question.fromBlock) >= 10
    return isWide ? { error: { code: -32_602, message: 'eth_getLogs is limited to a 10 range' } } : truth
  })
  const one = await attentive(url)
  await story.stage.chain.mine(1_500)
  await story.payers.pay(account, 'usdt_ethereum', 5n * USDT)
  await story.stage.chain.mine()
  const head = await story.stage.height()
  const steps: number[] = []
  for (let step = 0; step < 5 && one.cursor.height < head; step += 1) {
    requests = 0
    await scanTick(one, readRange)
    steps.push(requests)
  }
  expect(one.cursor.height).toBe(head)
  expect(Math.max(...steps)).toBeLessThanOrEqual(110)
  expect(await amounts()).toEqual([5n * USDT])
})
