import { Transaction } from 'bitcoinjs-lib'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { MempoolView, RawTransfer } from '#shared/ports/scanned-blocks.ts'
import type { WatchIndex } from '#shared/ports/scanning.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { createWatchIndex } from '../watch-index.ts'
import type { ExtractScope } from './extract.ts'
import { createMempoolReader } from './mempool.ts'

const SCRIPT = `0014${'22'.repeat(20)}`
const OTHER = `0014${'33'.repeat(20)}`
const NOBODY: ReadonlySet<string> = new Set()

/** Longer than any look here takes. */
const UNHURRIED_MS = 600_000
const NODE_NOW_MS = 1_800_000_000_000

const pool = new Map<string, Buffer | null>()
let requests: string[] = []
const failing = new Map<string, RpcFailure>()
let loaded = true
let entryTimes: ReadonlyMap<string, number> = new Map()
type MempoolRead = (watches: WatchIndex, outpoints: ReadonlySet<string>) => Promise<MempoolView>
let open: (lookMs: number) => MempoolRead
let read: MempoolRead
let agesMs: (txid: string) => number | undefined
let watches = createWatchIndex()

beforeEach(() => {
  pool.clear()
  failing.clear()
  requests = []
  loaded = true
  entryTimes = new Map()
  watches = createWatchIndex()
  watches.add(SCRIPT)
  const node = {
    mempoolIds: async () => [...pool.keys()],
    mempoolTransaction: async (txid: string) => {
      requests.push(txid)
      const failure = failing.get(txid)
      if (failure !== undefined) throw failure
      return pool.get(txid) ?? null
    },
    mempoolEntryTime: async (txid: string) => entryTimes.get(txid) ?? null,
    traffic: async () => ({ receivedBytes: 0, nowMs: NODE_NOW_MS }),
    mempoolLoaded: async () => loaded,
    uptimeMs: async () => null,
    oldestPeerSince: async () => null,
  }
  const rules = { coinbaseMaturity: 100, mweb: false }
  const scope: ExtractScope = {
    keyPrefix: 'test:bitcoin',
    asset: 'btc_bitcoin',
    dustBase: 0n,
    rules,
    printAddress: (script) => script,
  }
  open = (lookMs) => {
    const reader = createMempoolReader(scope, async () => loaded, lookMs)
    agesMs = (txHash) => reader.agesMs([{ txHash } as RawTransfer]).get(txHash)
    return (index, outpoints) => reader.read(node, index, outpoints)
  }
  read = open(UNHURRIED_MS)
})

/** Puts a transaction that spends output `coin` of a fixed one into the mempool. */
function arrive(coin: number, script: string): string {
  const made = new Transaction()
  made.addInput(Buffer.alloc(32, 0xcc), coin)
  made.addOutput(Buffer.from(script, 'hex'), BigInt(coin) + 1n)
  pool.set(made.getId(), Buffer.from(made.toBuffer()))
  return made.getId()
}
const outpoint = (coin: number) => `${'cc'.repeat(32)}:${coin}`

describe('the mempool', () => {
  it('is asked for each transaction once, and shows ours for as long as they are there', async () => {
    const [ours, theirs] = [arrive(1, SCRIPT), arrive(2, OTHER)]
    const first = await read(watches, NOBODY)
    expect([ours, theirs].map(first.txids.has)).toEqual([true, true])
    expect(first.transfers.map(({ key, amountBase }) => [key, amountBase])).toEqual([[`test:bitcoin:${ours}:0`, 2n]])
    const third = arrive(3, SCRIPT)
    expect((await read(watches, NOBODY)).transfers.map(({ txHash }) => txHash)).toEqual([ours, third])
    expect(requests).toEqual([ours, theirs, third])
    pool.delete(ours)
    expect((await read(watches, NOBODY)).transfers.map(({ txHash }) => txHash)).toEqual([third])
    arrive(1, SCRIPT)
    expect((await read(watches, NOBODY)).transfers.map(({ txHash }) => txHash)).toEqual([third, ours])
  })

  // Guarantee: a payment that its payer took back by another transaction is known as replaced.
  it('tells who spends the outpoints of a payment, at once and later', async () => {
    const ours = arrive(1, SCRIPT)
    expect((await read(watches, new Set([outpoint(1)]))).spent).toEqual(new Map([[outpoint(1), ours]]))
    pool.delete(ours)
    const replacement = arrive(1, OTHER)
    const spent = new Map([[outpoint(1), replacement]])
    expect((await read(watches, new Set([outpoint(1)]))).spent).toEqual(spent)
    expect((await read(watches, new Set([outpoint(1)]))).spent).toEqual(spent)
    expect((await read(watches, NOBODY)).spent).toEqual(new Map())
    pool.clear()
    expect((await read(watches, new Set([outpoint(1)]))).spent).toEqual(new Map())
  })

  // Guarantee: a look that ran out of time says so, so that no deadline passes over a payment that nobody looked at.
  it('that is too large for one look is not said to be known', async () => {
    const hurried = open(0)
    const ids = [arrive(1, OTHER), arrive(2, OTHER)]
    const first = await hurried(watches, NOBODY)
    expect(first).toMatchObject({ partial: true, transfers: [], spent: new Map() })
    expect(ids.every(first.txids.has)).toBe(true)
    expect(requests).toEqual([])
  })

  it('is looked through in the order of arrival at us, the newest first', async () => {
    const old = Array.from({ length: 20 }, (_, coin) => arrive(coin, OTHER))
    for (const txid of old) pool.set(txid, null)
    await read(watches, NOBODY)
    const ours = arrive(50, SCRIPT)
    requests = []
    const view = await read(watches, NOBODY)
    expect(requests).toEqual([ours, ...old])
    expect(view).toMatchObject({ partial: false, transfers: [{ txHash: ours }] })
  })

  it('is asked again for a transaction that was gone for a moment', async () => {
    const ours = arrive(1, SCRIPT)
    const bytes = pool.get(ours) ?? null
    pool.set(ours, null)
    expect((await read(watches, NOBODY)).transfers).toEqual([])
    pool.set(ours, bytes)
    expect((await read(watches, NOBODY)).transfers).toHaveLength(1)
  })

  // Guarantee: what is missing while a node fills its mempool after a restart is not forgotten and is said to be unclear.
  it('says so while the node still loads it, and keeps what it knows', async () => {
    const ours = arrive(1, SCRIPT)
    await read(watches, NOBODY)
    const bytes = pool.get(ours) ?? null
    pool.clear()
    loaded = false
    const view = await read(watches, NOBODY)
    expect(view).toMatchObject({ loading: true, transfers: [] })
    expect(view.txids.has(ours)).toBe(false)
    loaded = true
    pool.set(ours, bytes)
    requests = []
    expect(await read(watches, NOBODY)).toMatchObject({ loading: false, transfers: [{ txHash: ours }] })
    expect(requests).toEqual([])
  })

  // Guarantee: a payment that waited in the node's mempool before we looked at it is as old as the node says.
  it('gives transactions the age that the node has recorded, by the clock of the node', async () => {
    const ours = arrive(1, SCRIPT)
    entryTimes = new Map([[ours, NODE_NOW_MS - 90_000]])
    const age = (await read(watches, NOBODY)).agesMs?.get(ours) ?? 0
    expect(age).toBeGreaterThanOrEqual(90_000)
    expect(age).toBeLessThan(90_000 + UNHURRIED_MS)
    const future = arrive(2, SCRIPT)
    entryTimes = new Map([[future, NODE_NOW_MS + 90_000]])
    expect((await read(watches, NOBODY)).agesMs?.get(future)).toBeLessThan(UNHURRIED_MS)
  })

  it('still knows the age of a transaction when the block is read that took it out', async () => {
    const hurried = open(0)
    const ours = arrive(1, SCRIPT)
    await hurried(watches, NOBODY)
    pool.clear()
    await hurried(watches, NOBODY)
    expect(agesMs(ours)).toBeGreaterThanOrEqual(0)
    await hurried(watches, NOBODY)
    expect(agesMs(ours)).toBeUndefined()
  })

  it('is looked through again for other watches', async () => {
    arrive(2, OTHER)
    expect((await read(watches, NOBODY)).transfers).toEqual([])
    const others = createWatchIndex()
    others.add(OTHER)
    expect((await read(others, NOBODY)).transfers).toHaveLength(1)
  })

  it('with another transaction behind an id is not believed', async () => {
    const theirs = arrive(2, OTHER)
    pool.set('ab'.repeat(32), pool.get(theirs) ?? null)
    await expect(read(watches, NOBODY)).rejects.toMatchObject({ name: 'NodeUnreliable' })
  })

  // Guarantee: what one stranger sends hides nobody else's payment.
  it('with a transaction that the node does not give names it and shows the others', async () => {
    const ours = arrive(1, SCRIPT)
    const poison = arrive(2, OTHER)
    failing.set(poison, new RpcFailure('unclear', 'error -32603: response size exceeded'))
    for (let poll = 0; poll < 2; poll += 1) {
      const view = await read(watches, NOBODY)
      expect(view).toMatchObject({ partial: true, transfers: [{ txHash: ours }] })
      expect(view.unread).toMatch(new RegExp(`${poison}: error -32603: response size exceeded`))
    }
    expect(requests.filter((txid) => txid === poison)).toHaveLength(1)
    pool.delete(poison)
    expect(await read(watches, NOBODY)).toMatchObject({ partial: false, unread: null })
  })

  // Guarantee: how long deadlines wait is not a stranger's choice.
  it('waits ten minutes for what the node does not give, however many follow', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const refuse = (coin: number) =>
      failing.set(arrive(coin, OTHER), new RpcFailure('unclear', 'response size exceeded'))
    const patient = open(UNHURRIED_MS)
    arrive(0, OTHER)
    for (let minute = 1; minute <= 9; minute += 1) {
      refuse(minute)
      expect(await patient(watches, NOBODY)).toMatchObject({ partial: true })
      vi.advanceTimersByTime(60_000)
    }
    refuse(10)
    vi.advanceTimersByTime(60_000)
    expect(await patient(watches, NOBODY)).toMatchObject({
      partial: false,
      unread: expect.stringMatching(/and 9 others/),
    })
  })

  it('of a node that gives none is left for another one', async () => {
    for (let coin = 0; coin < 9; coin += 1) failing.set(arrive(coin, OTHER), new RpcFailure('refused', 'not offered'))
    await expect(read(watches, NOBODY)).rejects.toThrow('not offered')
    failing.clear()
    failing.set(arrive(20, OTHER), new RpcFailure('rate', 'too many requests'))
    await expect(open(UNHURRIED_MS)(watches, NOBODY)).resolves.toMatchObject({ partial: true })
    pool.clear()
    failing.set(arrive(21, OTHER), new RpcFailure('retry', 'no response', { isSilent: true }))
    await expect(open(UNHURRIED_MS)(watches, NOBODY)).rejects.toThrow('no response')
  })

  it('may hold purely confidential transactions, which pay nobody yet', async () => {
    pool.set('cd'.repeat(32), Buffer.from('0200000000080000018f3a77c1a2', 'hex'))
    expect((await read(watches, NOBODY)).transfers).toEqual([])
    await read(watches, NOBODY)
    expect(requests).toHaveLength(1)
  })
})
