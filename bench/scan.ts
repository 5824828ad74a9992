import { ASSETS } from '#shared/chains/assets.ts'
import type { Database } from '#shared/db/connect.ts'
import { CHAIN_CURSORS } from '#shared/db/cursor-model.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { PAYMENTS } from '#shared/db/payment-model.ts'
import { pause } from './child.ts'
import type { BenchOptions } from './options.ts'
import { bareScan } from './scan-bare.ts'
import {
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
 * The scanner of one EVM network with a million watched addresses: how fast it catches up with a chain of transfers of which
 * one in a hundred is ours, writes included, beside a bare loop that reads and matches the same chain and writes nothing;
 * then how soon a payment is stored after its block.
 */
export async function benchScan(options: BenchOptions): Promise<void> {
  const { print } = options
  const undo: (() => Promise<unknown> | unknown)[] = []
  try {
    const stage = await openStage(options, undo)
    const bare: number[] = []
    const own: number[] = []
    let peak = 0
    for (let round = 1; round <= options.rounds; round += 1) {
      const loop = await bareScan(stage.chain, ASSETS[TOKEN].contract, stage.watches.keys)
      if (loop.hits !== stage.watches.hits) throw new Error(`the bare loop found ${loop.hits} hits`)
      bare.push(TRANSFERS / loop.seconds)
      const caughtUp = await catchUp(stage)
      own.push(TRANSFERS / caughtUp.seconds)
      peak = Math.max(peak, caughtUp.peakBytes)
      print(
        `round ${round}: ${rate(own)}/s scanned with their writes, bare loop ${rate(bare)}/s, hydrated in ${caughtUp.hydrateSeconds.toFixed(1)} s`,
      )
    }
    print(
      `scan: ${median(own).toFixed(0)} transfers/s, ${((100 * median(own)) / median(bare)).toFixed(0)} % of the bare loop`,
    )
    print(`memory at most ${(peak / 1e6).toFixed(0)} MB with ${WATCHED} watches`)
    const delays = await followTip(stage)
    print(`block mined to payment stored at 4 blocks/s: p50 ${at(delays, 0.5)} ms, p99 ${at(delays, 0.99)} ms`)
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

/** From the first move of a cursor that stands at block 0 until it stands at the head; a new process each time. */
async function catchUp(stage: Stage) {
  const { chain, db } = stage
  const head = Number(await chain.rpc('eth_blockNumber'))
  const genesis = (await chain.rpc('eth_getBlockByNumber', ['0x0', false])) as { readonly hash: string }
  await db.collection(PAYMENTS).deleteMany({})
  await db.collection(CHAIN_CURSORS).deleteMany({})
  await createCursorRepository(db).create({
    ...{ id: `test:${NETWORK}`, mode: 'test', network: NETWORK, height: 0, hash: genesis.hash, time: 1 },
    ...{ window: [[0, genesis.hash]], headHeight: 0, headSeenAt: Date.now(), finalizedHeight: null },
    ...{ status: 'catchup', haltReason: null, genesisHash: genesis.hash, lease: null },
  })
  const startedAt = performance.now()
  const scanner = await stage.startScanner()
  let movedAt = 0
  let peakBytes = 0
  for (;;) {
    const height = await heightOf(db)
    if (height > 0 && movedAt === 0) movedAt = performance.now()
    peakBytes = Math.max(peakBytes, scanner.residentBytes() ?? 0)
    if (height >= head) break
    await pause(5)
  }
  const seconds = (performance.now() - movedAt) / 1_000
  const stored = await db.collection(PAYMENTS).countDocuments({})
  await scanner.stop()
  if (stored !== stage.watches.hits) throw new Error(`${stored} payments are stored instead of ${stage.watches.hits}`)
  return { seconds, peakBytes, hydrateSeconds: (movedAt - startedAt) / 1_000 }
}

async function heightOf(db: Database): Promise<number> {
  const cursor = await db.collection(CHAIN_CURSORS).findOne({}, { projection: { height: 1 } })
  return cursor?.height ?? 0
}

/** Milliseconds from a block to its payment, for one payment in each of many blocks, in ascending order. */
async function followTip(stage: Stage): Promise<readonly number[]> {
  const { chain, db } = stage
  const scanner = await stage.startScanner()
  // The cursor stands at the head from before: only a further block shows that this process is awake.
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
  await scanner.stop()
  const expected = Math.floor((TIP_BLOCKS * LOGS_PER_TX) / HIT_EVERY)
  if (delays.length < expected) throw new Error(`${delays.length} payments came instead of ${expected}`)
  return delays.sort((left, right) => left - right)
}

const rate = (values: readonly number[]): string => (values.at(-1) ?? 0).toFixed(0)
const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN).toFixed(0)

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
