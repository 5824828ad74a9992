import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startTronNode, type TronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { randomOf } from '#test/support/random-of.ts'
import { ADDRESS, CONTRACT, OURS, PAYER, silent, USDT, watches } from '#test/support/tron-nodes.ts'
import { createTronClient, type TronClient } from './client.ts'

const HISTORIES = 200
const STEPS = 30
const SOLID_LAG = 4
const BATCH = 7

/** What a front of the node says instead of the truth, by path; null for the truth. */
interface Front {
  readonly url: string
  lie: (path: string) => string | null
  close(): void
}

async function startFront(url: string): Promise<Front> {
  const front = { url: '', lie: (_path: string): string | null => null, close: () => {} }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      const said = front.lie(path)
      if (said !== null) {
        response.statusCode = said === '' ? 503 : 200
        response.end(said)
        return
      }
      fetch(`${url}${path}`, { method: 'POST', body: Buffer.concat(chunks).toString() })
        .then(async (answer) => response.end(await answer.text()))
        .catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  front.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  front.close = () => {
    server.closeAllConnections()
    server.close()
  }
  return front
}

const clientOf = (url: string): TronClient =>
  createTronClient({
    chain: CHAINS.tron,
    mode: 'test',
    rpcUrls: [url],
    genesis: 'any',
    nativeAsset: 'trx_tron',
    tokens: [{ asset: 'usdt_tron', contract: ASSETS.usdt_tron.contract, decimals: 6 }],
    metrics: silent,
  })

/** One thing that happens on the chain. */
async function happen(node: TronNode, random: (below: number) => number): Promise<void> {
  const amountBase = BigInt(1 + random(9_000_000))
  const payout = { from: CONTRACT, to: `41${OURS}`, amount: String(amountBase), note: 'call' }
  switch (random(8)) {
    case 0:
    case 1:
      await node.pay({ asset: random(2) === 0 ? 'trx_tron' : 'usdt_tron', to: ADDRESS, amountBase })
      return
    case 2:
      node.submit({ kind: 'call', owner: PAYER, contract: CONTRACT, data: '' }, { internals: [payout, payout] })
      return
    case 3:
      node.submit({ kind: 'call', owner: PAYER, contract: USDT, data: '' }, { result: 'REVERT', internals: [payout] })
      return
    case 4:
      if (node.height() > SOLID_LAG) node.reorg(1 + random(SOLID_LAG))
      return
    default:
      node.mine(1 + random(4))
  }
}

type Plant = 'none' | 'parents unchecked'
const linesOf = (blocks: readonly ScannedBlock[]): readonly string[] =>
  blocks.flatMap(({ hash, transfers }) => [
    hash,
    ...transfers.map(({ key, asset, amountBase }) => `${key} ${asset} ${amountBase}`),
  ])

/** Follows a history, polling at every `pace` steps as a scanner does; returns what it has read, and what one reading of the whole chain finds. */
async function follow(seed: number, pace: number, plant: Plant) {
  const random = randomOf(seed)
  const node = await startTronNode({ blockTimeMs: null, solidLag: SOLID_LAG })
  const front = await startFront(node.url)
  const client = clientOf(front.url)
  const read: ScannedBlock[] = []

  async function poll(): Promise<boolean> {
    const head = await client.head()
    const last = read.at(-1)
    const from = (last?.height ?? 0) + 1
    if (head.height < from) {
      if (last !== undefined && (await client.blockAt(head.height))?.hash === read[head.height - 1]?.hash) return false
      read.pop()
      return true
    }
    const blocks = await client.scan(from, Math.min(head.height, from + BATCH), watches)
    const isLinked = last === undefined || blocks[0]?.parentHash === last.hash
    if (isLinked || plant === 'parents unchecked') read.push(...blocks)
    else read.pop()
    return true
  }
  async function catchUp(): Promise<void> {
    for (let turn = 0; turn < 200; turn += 1) if (!(await poll())) return
  }

  try {
    for (let step = 0; step < STEPS; step += 1) {
      await happen(node, random)
      if (random(6) === 0) {
        const failing = ['getblockby', 'infobyblocknum', 'getnowblock'][random(3)] ?? ''
        const words = ['', '{}', '{"Error":"class java.lang.NullPointerException : null"}'][random(3)] ?? ''
        front.lie = (path) => (path.includes(failing) ? words : null)
      } else front.lie = () => null
      if (step % pace === 0) await poll().catch(unlessOurs)
    }
    front.lie = () => null
    node.mine(1)
    await catchUp()
    const whole = clientOf(node.url)
    const rescan = await whole.scan(1, node.height(), watches)
    const rest: ScannedBlock[] = []
    for (let at = (rescan.at(-1)?.height ?? 0) + 1; at <= node.height(); at = (rest.at(-1)?.height ?? 0) + 1)
      rest.push(...(await whole.scan(at, node.height(), watches)))
    await whole.close()
    return { read: linesOf(read), expected: linesOf([...rescan, ...rest]) }
  } finally {
    await client.close()
    front.close()
    await node.stop()
  }
}

/** A poll may fail for what the node says, and for nothing else. */
function unlessOurs(error: unknown): void {
  if (!(error instanceof NodeUnreliable)) throw error
}

const seeds = Array.from({ length: HISTORIES }, (_, seed) => seed)

describe.each([
  ['at each step', 1],
  ['at every ninth', 9],
] as const)('a TRON node with payments, failed calls, forks and faults, read %s', (_pace, pace) => {
  // Guarantee: whatever fails or is replaced while blocks are read, what is read of a chain is what one reading of the whole of it finds.
  it('is read as a full rescan reads it, in each history', { timeout: 1_200_000 }, async () => {
    for (const seed of sampleOf(seeds, 2)) {
      const { read, expected } = await follow(seed, pace, 'none')
      expect(read, `seed ${seed}`).toEqual(expected)
      expect(expected.length, `seed ${seed}`).toBeGreaterThan(10)
    }
  })

  deepTest('is not by a reader that does not check parents: the histories show it', { timeout: 60_000 }, async () => {
    const wrong = []
    for (const seed of seeds.slice(0, 6)) {
      const { read, expected } = await follow(seed, pace, 'parents unchecked')
      if (JSON.stringify(read) !== JSON.stringify(expected)) wrong.push(seed)
    }
    expect(wrong.length).toBeGreaterThan(1)
  })
})
