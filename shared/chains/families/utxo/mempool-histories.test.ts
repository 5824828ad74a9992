import { Transaction } from 'bitcoinjs-lib'
import { describe, expect, it } from 'vitest'
import type { MempoolView } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { sampleOf } from '#test/support/depth.ts'
import { randomOf } from '#test/support/random-of.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { createWatchIndex } from '../watch-index.ts'
import { createMempoolReader } from './mempool.ts'

const SCRIPTS = ['22', '33'].map((byte) => `0014${byte.repeat(20)}`)
const STRANGER = `0014${'44'.repeat(20)}`
const HISTORIES = 200
const STEPS = 60
/** Longer than any poll here takes. */
const UNHURRIED_MS = 600_000
const scope = {
  ...({ keyPrefix: 'test:bitcoin', asset: 'btc_bitcoin', dustBase: 546n } as const),
  ...{ rules: { coinbaseMaturity: 100, mweb: false }, printAddress: (script: string) => script },
}

function transactionOf(coin: number, random: (below: number) => number): Transaction {
  const made = new Transaction()
  for (let input = 0; input <= random(3); input += 1) made.addInput(Buffer.alloc(32, 0xcc), coin + input)
  const isBomb = random(12) === 0
  for (let output = 0; output < (isBomb ? 120 : 1 + random(3)); output += 1) {
    const script = [...SCRIPTS, STRANGER, STRANGER][random(4)] ?? STRANGER
    made.addOutput(
      Buffer.from(isBomb ? (SCRIPTS[0] ?? script) : script, 'hex'),
      isBomb ? 300n : BigInt(600 + random(9_000)),
    )
  }
  return made
}

/** A node whose mempool is filled, emptied, replaced, reloaded, poisoned and away as a seed says. */
function nodeOf(seed: number) {
  const random = randomOf(seed)
  const pool = new Map<string, Buffer>()
  const coins = new Map<string, number>()
  const at = { isAway: false, hidden: new Set<string>(), poison: new Set<string>(), coin: 0 }
  const listed = () => [...pool.keys()].filter((txid) => !at.hidden.has(txid))
  const arrive = (coin: number) => {
    const made = transactionOf(coin, random)
    // A mempool never has two transactions that spend one output.
    for (const [txid, spent] of coins) if (spent === coin) pool.delete(txid)
    coins.set(made.getId(), coin)
    pool.set(made.getId(), Buffer.from(made.toBuffer()))
    if (random(15) === 0) at.poison.add(made.getId())
  }
  function step(): void {
    for (let count = random(4); count > 0; count -= 1) {
      at.coin += 5
      arrive(at.coin)
    }
    const [leaving] = listed().slice(random(5))
    if (leaving !== undefined && random(2) === 0) pool.delete(leaving)
    if (leaving !== undefined && random(6) === 0) arrive(at.coin)
    if (random(10) === 0) at.isAway = !at.isAway
    if (random(8) === 0)
      at.hidden = at.hidden.size > 0 ? new Set() : new Set([...pool.keys()].filter(() => random(3) > 0))
    if (random(5) === 0) at.poison = new Set()
  }
  const unlessAway = async <T>(answer: () => T): Promise<T> => {
    if (at.isAway) throw new RpcFailure('retry', 'no response', { isSilent: true })
    return answer()
  }
  const node = {
    mempoolIds: () => unlessAway(listed),
    mempoolTransaction: (txid: string) =>
      unlessAway(() => {
        if (at.poison.has(txid)) throw new RpcFailure('refused', 'response too large')
        return pool.get(txid) ?? null
      }),
    ...{
      mempoolEntryTime: async () => null,
      traffic: async () => null,
      mempoolLoaded: async () => at.hidden.size === 0,
    },
    ...{ uptimeMs: async () => null, oldestPeerSince: async () => null },
  }
  const outpoints = () => new Set(Array.from({ length: at.coin + 3 }, (_, coin) => `${'cc'.repeat(32)}:${coin}`))
  return { node, at, step, listed, outpoints }
}

type Node = ReturnType<typeof nodeOf>['node']
const watches = () => {
  const index = createWatchIndex()
  for (const script of SCRIPTS) index.add(script)
  return index
}
const shown = (view: MempoolView) => [
  view.transfers.map(({ key, amountBase }) => `${key} ${amountBase}`).sort(),
  [...view.spent].sort(),
]
const readerOf = () => createMempoolReader(scope, async (node) => (await node.mempoolLoaded()) === true, UNHURRIED_MS)

/** Follows a history with a poll every `pace` steps; returns what the last poll shows, and what a reader that begins then sees. */
async function follow(seed: number, pace: number, plant: (node: Node) => Node = (node) => node) {
  const { node, at, step, listed, outpoints } = nodeOf(seed)
  const reader = readerOf()
  const seen = plant(node)
  const index = watches()
  const poll = () => reader.read(seen, index, outpoints())
  let complete = 0
  for (let count = 0; count < STEPS; count += 1) {
    step()
    if (count % pace !== 0) continue
    const view = await poll().catch(unlessOurs)
    if (view === null) continue
    expect(view.transfers.every(({ txHash }) => view.txids.has(txHash))).toBe(true)
    if (view.partial === true || view.loading === true) continue
    complete += 1
    const { poison } = at
    at.poison = new Set()
    const truth = await readerOf().read(node, watches(), outpoints())
    at.poison = poison
    expect(shown(view), `seed ${seed}, step ${count}`).toEqual(shown(truth))
  }
  Object.assign(at, { isAway: false, hidden: new Set(), poison: new Set() })
  const whole = shown(await readerOf().read(node, watches(), outpoints()))
  const last = await poll()
  return { last: shown(last), whole, complete, count: listed().length, isPartial: last.partial === true }
}

/** A poll may fail for what the node says, and for nothing else. */
function unlessOurs(error: unknown): null {
  if (!(error instanceof NodeUnreliable)) throw error
  return null
}

const seeds = Array.from({ length: HISTORIES }, (_, seed) => seed)
/** Two hundred in the deep stage `cases`. */
const followed = sampleOf(seeds, 8)

describe.each([
  ['at each step', 1],
  ['at every seventh', 7],
] as const)('a mempool that is filled, replaced, reloaded, poisoned and away, read %s', (_pace, pace) => {
  // Guarantee: a reader that compares listings shows what one shows that reads everything; what a node does not give is named as unread until then.
  it('shows what a whole reading shows, in each history', async () => {
    let complete = 0
    for (const seed of followed) {
      const found = await follow(seed, pace)
      complete += found.complete
      if (found.isPartial) continue
      expect(found.last, `seed ${seed}`).toEqual(found.whole)
    }
    expect(complete).toBeGreaterThan(followed.length)
  })

  it.each<[string, (node: Node) => Node]>([
    ['takes the listing before', (node) => ({ ...node, mempoolIds: before(node.mempoolIds) })],
    [
      'takes a poisoned transaction for one that pays nobody',
      (node) => ({ ...node, mempoolTransaction: orEmpty(node) }),
    ],
    ['takes a mempool that is reloaded for a whole one', (node) => ({ ...node, mempoolLoaded: async () => true })],
  ])('is not by one that %s: the histories show it', async (_bug, plant) => {
    const wrong = []
    for (const seed of seeds.slice(0, 6)) {
      const isSame = await follow(seed, pace, plant).then(
        ({ last, whole }) => JSON.stringify(last) === JSON.stringify(whole),
        () => false,
      )
      if (!isSame) wrong.push(seed)
    }
    expect(wrong.length).toBeGreaterThan(1)
  })
})

function before(list: () => Promise<string[]>): () => Promise<string[]> {
  let last: string[] = []
  return async () => {
    const former = last
    last = await list()
    return former
  }
}

function orEmpty({ mempoolTransaction }: Node): Node['mempoolTransaction'] {
  return async (txid) => {
    try {
      return await mempoolTransaction(txid)
    } catch (error) {
      if (error instanceof RpcFailure && error.kind === 'refused') return null
      throw error
    }
  }
}
