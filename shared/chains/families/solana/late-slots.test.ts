import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { chainOf } from '#test/support/fake-solana.ts'
import { randomOf } from '#test/support/random-of.ts'
import { createPatientScan } from '../../nodes/patient-scan.ts'
import { RpcDenial } from '../../nodes/rpc-failure.ts'
import type { Caller } from './get-block.ts'
import type { BlockPosition } from './newest-block.ts'
import { type BlockReader, createBlockReader } from './read-blocks.ts'

const FIRST = 100
const HISTORIES = 200

/** A node whose votes, blocks and list of slots run ahead of each other by what `lags` says. */
function nodeOf(random: (below: number) => number) {
  const slots: number[] = [FIRST]
  for (let slot = FIRST + 1; slot < FIRST + 400; slot += 1) if (random(5) > 0 && slot % 97 > 8) slots.push(slot)
  const chain = new Map(chainOf(slots).map(({ slot, transactions: _none, ...header }) => [slot, header]))
  const at = { votes: FIRST + 20, blockLag: 0, listLag: 0, lost: -1 }
  const newest = () => slots.findLast((slot) => slot <= at.votes) ?? FIRST
  const listed = () => slots.filter((slot) => slot <= at.votes - at.listLag)
  const has = (slot: number) => chain.has(slot) && slot <= at.votes - at.blockLag && slot !== at.lost
  const answer = (method: string, [first, second]: readonly [never, never]): unknown => {
    if (method === 'getSlot') return newest()
    if (method === 'getBlocks') return listed().filter((slot) => slot >= first && slot <= second)
    if (method === 'getBlocksWithLimit')
      return listed()
        .filter((slot) => slot >= first)
        .slice(0, second)
    if (method === 'getBlock' && has(first)) return { ...chain.get(first), transactions: [], signatures: [] }
    throw new RpcDenial('absent', `Slot ${first} was skipped`, { method, host: 'node' })
  }
  const rpc: Caller = {
    call: async <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>) =>
      schema.parse(answer(method, params as never)),
  }
  return { rpc, at, has, newest, slots }
}

type Plant = 'none' | 'list is the truth' | 'head is the newest slot'

/** Follows a node through a history at a pace; returns the slots that were read, those that there are, and how many polls had no head. */
async function follow(seed: number, pace: number, plant: Plant) {
  const random = randomOf(seed)
  const { rpc, at, has, newest, slots } = nodeOf(random)
  const reader = createBlockReader(rpc, () => ({ genesisHash: '', simulated: false }) as never)
  const scan = createPatientScan()
  let known: BlockPosition | null = null
  let cursor: BlockPosition | null = null
  const read: number[] = []
  let headless = 0

  async function poll() {
    const before: BlockPosition | null = known
    headless += 1
    known = plant === 'head is the newest slot' ? await onlyNewest(reader) : await reader.newest(known)
    headless -= 1
    if (known !== before) expect(has(known.height)).toBe(true)
    cursor ??= known
    if (known.height <= cursor.height) return
    const [from, end] = [cursor.height + 1, Math.min(known.height, cursor.height + 20)]
    const take = () => []
    const scanned = ({
      ref,
    }: {
      readonly ref: { height: number; hash: string; parentHash: string; time: number }
    }) => ({
      ...ref,
      transfers: [],
    })
    const blocks = await scan(
      {
        scan: async (low, high) =>
          plant === 'list is the truth' ? await listedOf(low, high) : await wholeOf(low, high),
        scanAlone: async (slot, low) => scanned(await reader.readAlone(slot, low, take)),
      },
      from,
      end,
    )
    async function wholeOf(low: number, high: number) {
      return (await reader.read(low, high, take)).map(scanned)
    }
    async function listedOf(low: number, high: number) {
      const list = (await rpc.call('getBlocks', [low, high], { parse: (value: unknown) => value } as never)) as number[]
      return [...list.filter(has), ...(list.includes(high) || !has(high) ? [] : [high])].map((height) => ({
        ...{ height, hash: `${height}`, parentHash: '', time: 0, transfers: [] },
      }))
    }
    for (const { height, hash, parentHash } of blocks) {
      if (plant !== 'list is the truth') expect(parentHash).toBe(cursor?.hash)
      read.push(height)
      cursor = { height, hash }
    }
  }

  for (let step = 0; at.votes < FIRST + 300; step += 1) {
    at.votes += 1 + random(pace)
    if (step % 7 === 0) [at.blockLag, at.listLag] = [random(3) * random(15), random(3) * random(15)]
    if (step % 11 === 0) at.lost = random(2) * newest()
    await poll().catch(unlessOurs)
  }
  Object.assign(at, { blockLag: 0, listLag: 0, lost: -1 })
  for (let step = 0; step < 60; step += 1) await poll().catch(unlessOurs)
  const begun = read[0] ?? FIRST
  return { read, expected: slots.filter((slot) => slot >= begun && slot <= newest()), headless }
}

/** A poll may fail for what the node says, and for nothing else. */
function unlessOurs(error: unknown): void {
  if (!(error instanceof NodeUnreliable)) throw error
}

/** A planted bug: the block of the newest slot, or none. */
async function onlyNewest(reader: BlockReader): Promise<BlockPosition> {
  const slot = await reader.slot('confirmed')
  const block = await reader.at(slot)
  if (block === null) throw new NodeUnreliable('no block')
  return block
}

const seeds = Array.from({ length: HISTORIES }, (_, seed) => seed)

describe.each([
  ['slot by slot', 2],
  ['in leaps', 25],
] as const)('a node whose votes, blocks and lists run apart, read %s', (_pace, most) => {
  // Guarantee: however late blocks and lists come, each block is read once, in order, and none is passed by.
  it(`is read whole in ${HISTORIES} histories`, async () => {
    for (const seed of seeds) {
      const { read, expected } = await follow(seed, most, 'none')
      expect(read, `seed ${seed}`).toEqual(expected)
      expect(read.length, `seed ${seed}`).toBeGreaterThan(50)
    }
  })

  it('is not by a reader that takes the list for the truth: the histories show it', async () => {
    const lost = []
    for (const seed of seeds.slice(0, 20)) {
      const { read, expected } = await follow(seed, most, 'list is the truth')
      if (read.length < expected.length) lost.push(seed)
    }
    expect(lost.length).toBeGreaterThan(10)
  })

  it('has more often a head than one that takes the newest slot for it', async () => {
    const [ours, planted] = [{ headless: 0 }, { headless: 0 }]
    for (const seed of seeds.slice(0, 20)) {
      ours.headless += (await follow(seed, most, 'none')).headless
      planted.headless += (await follow(seed, most, 'head is the newest slot')).headless
    }
    expect(ours.headless).toBeLessThan(planted.headless / 10)
  })
})
