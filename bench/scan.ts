import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { pause } from './child.ts'
import type { BenchOptions } from './options.ts'
import {
  BLOCKS,
  HIT_EVERY,
  LOGS_PER_TX,
  mineBursts,
  NETWORK,
  openStage,
  type Stage,
  TIP_BLOCKS,
  TOKEN,
  TRANSFERS,
  WATCHED,
} from './scan-stage.ts'

const TIP_EVERY_MS = 250

/**
 * The scanner of one EVM network with a million watched addresses: its speed catching up with a chain of which one
 * transfer in a hundred is watched, writes included, compared with a bare loop that reads and matches the same chain and writes nothing;
 * then how soon a payment is stored after its block.
 */
export async function benchScan(options: BenchOptions): Promise<void> {
  const { print } = options
  const undo: (() => Promise<unknown> | unknown)[] = []
  try {
    const stage = await openStage(options, undo)
    const rounds: Round[] = []
    for (let round = 1; round <= options.rounds; round += 1) {
      const loop = await bareScan(stage.chain, ASSETS[TOKEN].contract, stage.watches.keys)
      if (loop.hits !== stage.watches.hits) throw new Error(`the bare loop found ${loop.hits} hits`)
      const own = await catchUp(stage)
      rounds.push({ bare: TRANSFERS / loop.seconds, own })
      print(
        `round ${round}: ${rate(own.perSecond)} scanned with their writes, bare loop ${rate(TRANSFERS / loop.seconds)}, ` +
          `hydrated in ${own.hydrateSeconds.toFixed(1)} s`,
      )
    }
    const tip = await followTip(stage)
    report(rounds, tip, print)
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

/** Results of one round, transfers per second. */
interface Round {
  readonly bare: number
  readonly own: ScanSpeed
}

/** Of the node's answer; `timestamp` is a quantity in seconds. */
interface Genesis {
  readonly hash: string
  readonly timestamp: string
}

/** Speed of a scan and the peak memory of its process; null where the system does not report it. */
interface ScanSpeed {
  readonly perSecond: number
  readonly peakBytes: number | null
}

function report(rounds: readonly Round[], tip: Tip, print: (line: string) => void): void {
  const own = rounds.map((round) => round.own.perSecond)
  const bare = rounds.map((round) => round.bare)
  const share = ((100 * median(own)) / median(bare)).toFixed(0)
  print(`scan: ${spread(own)}, ${share} % of the bare loop (${spread(bare)})`)
  const peak = megabytes([...rounds.map((round) => round.own.peakBytes), tip.peakBytes])
  print(`memory of the scanner's process: at most ${peak} with ${WATCHED} watches`)
  const { delays } = tip
  print(`block mined to payment stored at 4 blocks/s: p50 ${at(delays, 0.5)} ms, p99 ${at(delays, 0.99)} ms`)
}

/**
 * From the first move of a cursor at block 0 until it is at the head, counting the blocks in between; a new
 * process each time.
 */
async function catchUp(stage: Stage): Promise<ScanSpeed & { readonly hydrateSeconds: number }> {
  const { chain, db } = stage
  const head = Number(await chain.rpc('eth_blockNumber'))
  const genesis = (await chain.rpc('eth_getBlockByNumber', ['0x0', false])) as Genesis
  await db.collection(PAYMENTS).deleteMany({})
  await db.collection(CHAIN_CURSORS).deleteMany({})
  await createCursorRepository(db).create({
    ...{
      id: `test:${NETWORK}`,
      mode: 'test',
      network: NETWORK,
      height: 0,
      hash: genesis.hash,
      time: Number(genesis.timestamp) * 1_000,
    },
    ...{ window: [[0, genesis.hash]], headHeight: 0, headSeenAt: Date.now(), finalizedHeight: null },
    ...{ status: 'catchup', haltReason: null, genesisHash: genesis.hash, lease: null },
  })
  const startedAt = performance.now()
  const scanner = await stage.startScanner()
  let first: { readonly at: number; readonly height: number } | null = null
  for (;;) {
    const height = await heightOf(db)
    if (height > 0) first ??= { at: performance.now(), height }
    if (height >= head) break
    await pause(5)
  }
  const from = first ?? { at: performance.now(), height: head }
  const perSecond = ((TRANSFERS / BLOCKS) * (head - from.height) * 1_000) / (performance.now() - from.at)
  const peakBytes = scanner.peakBytes()
  const stored = await db.collection(PAYMENTS).countDocuments({})
  await scanner.stop()
  if (stored !== stage.watches.hits) throw new Error(`${stored} payments are stored instead of ${stage.watches.hits}`)
  return { perSecond, peakBytes, hydrateSeconds: (from.at - startedAt) / 1_000 }
}

async function heightOf(db: Database): Promise<number> {
  const cursor = await db.collection(CHAIN_CURSORS).findOne({}, { projection: { height: 1 } })
  return cursor?.height ?? 0
}

/** A scanner that follows the head of a chain. */
interface Tip {
  /** Milliseconds from a block to its payment, for one payment in each of many blocks, in ascending order. */
  readonly delays: readonly number[]
  readonly peakBytes: number | null
}

async function followTip(stage: Stage): Promise<Tip> {
  const { chain, db } = stage
  const scanner = await stage.startScanner()
  // The cursor is already at the head: only a further block shows that this process is running.
  await chain.mine()
  const head = Number(await chain.rpc('eth_blockNumber'))
  while ((await heightOf(db)) < head) await pause(50)
  const minedAt = new Map<number, number>()
  const delays: number[] = []
  const stream = db.collection(PAYMENTS).watch([{ $match: { operationType: 'insert' } }])
  stream.on('change', (change) => {
    const height = change.operationType === 'insert' ? change.fullDocument.block?.height : undefined
    const mined = minedAt.get(height ?? -1)
    if (mined !== undefined) delays.push(performance.now() - mined)
  })
  await pause(500)
  for (let index = 0; index < TIP_BLOCKS; index += 1) {
    const started = performance.now()
    minedAt.set(head + index + 1, started)
    await mineBursts(chain, TRANSFERS + index * LOGS_PER_TX, 1)
    minedAt.set(head + index + 1, performance.now())
    await pause(Math.max(0, TIP_EVERY_MS - (performance.now() - started)))
  }
  await pause(3_000)
  await stream.close()
  const peakBytes = scanner.peakBytes()
  await scanner.stop()
  const expected = Math.floor((TIP_BLOCKS * LOGS_PER_TX) / HIT_EVERY)
  if (delays.length < expected) throw new Error(`${delays.length} payments came instead of ${expected}`)
  return { delays: delays.sort((left, right) => left - right), peakBytes }
}

const rate = (perSecond: number): string => `${perSecond.toFixed(0)}/s`
const spread = (values: readonly number[]): string =>
  `${median(values).toFixed(0)} transfers/s (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`
const megabytes = (bytes: readonly (number | null)[]): string =>
  bytes.includes(null) ? 'unknown' : `${(Math.max(...bytes.map(Number)) / 1e6).toFixed(0)} MB`
const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN).toFixed(0)

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const RANGE = 50
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

interface Log {
  readonly topics: readonly string[]
  readonly data: string
}

/** Reads all transfers of a token in ranges of blocks and looks their recipients up in a plain set: no checks, no writes. */
export async function bareScan(
  chain: LocalChain,
  contract: string | null,
  keys: readonly string[],
): Promise<{ readonly seconds: number; readonly hits: number }> {
  const watched = new Set(keys)
  const head = Number(await chain.rpc('eth_blockNumber'))
  const startedAt = performance.now()
  let hits = 0
  for (let from = 0; from <= head; from += RANGE) {
    const range = { fromBlock: hex(from), toBlock: hex(Math.min(head, from + RANGE - 1)) }
    const logs = (await chain.rpc('eth_getLogs', [{ ...range, address: contract, topics: [TRANSFER] }])) as Log[]
    for (const log of logs) if (watched.has((log.topics[2] ?? '').slice(26)) && BigInt(log.data) > 0n) hits += 1
  }
  return { seconds: (performance.now() - startedAt) / 1_000, hits }
}

const hex = (value: number): string => `0x${value.toString(16)}`
