import { describe, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { blocksOf, compareFacts, rowAge } from '#shared/chains/chain-figures.ts'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { ASSET_IDS, NETWORK_IDS, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import type { ChainMeasurements } from '#shared/ports/cursors.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { confirmationWait } from '#shared/usecases/networks/confirmation-wait.ts'
import { measureMove, measureReorg, UNMEASURED } from '#shared/usecases/networks/measure-chain.ts'
import { findFork, isTooDeep } from '#shared/usecases/scanning/find-fork.ts'
import { pacedSource } from '#shared/usecases/scanning/paced-source.ts'
import type { ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { extendWindow, type HashWindow } from '#shared/usecases/scanning/scan-window.ts'
import { usualPace } from '#shared/usecases/scanning/thrifty-pace.ts'

const START = 1_800_000_000_000
/** Header times are whole seconds, and marks a minute apart. */
const ALLOWANCE = 0.05
const rowOf = (network: NetworkId): ChainDefinition => CHAINS[network]

/** Headers in the order in which a scanner commits them. */
interface Header {
  readonly height: number
  readonly time: number
  /** Our clock at the commit. */
  readonly now: number
}

/** A chain at a pace, scanned at its head in steps of two seconds or one block; times are whole seconds, as most headers have them. */
function headersAt(paceMs: number, minutes: number): readonly Header[] {
  const perStep = Math.max(1, Math.round(2_000 / paceMs))
  const steps = Math.ceil(Math.max(minutes * 60_000, 300 * paceMs) / (perStep * paceMs))
  return Array.from({ length: steps }, (_, step) => {
    const height = 1_000_000 + step * perStep
    const at = START + step * perStep * paceMs
    return { height, time: Math.floor(at / 1_000) * 1_000, now: at + 500 }
  })
}

function measure(headers: readonly Header[], finalBehind: number | null, before = UNMEASURED): ChainMeasurements {
  return headers.reduce((measured, { height, time, now }) => {
    const finalizedHeight = finalBehind === null ? null : height - finalBehind
    return measureMove(measured, { height, time, headHeight: height, finalizedHeight }, now)
  }, before)
}

const catalogWith = (measured: ChainMeasurements) => createCatalog({ live: {}, test: {} }, { of: () => measured })
const NOWHERE = {} as ChainClient
const sourceOf = (network: NetworkId): ScanSource => ({
  mode: 'live',
  network,
  family: rowOf(network).family,
  client: NOWHERE,
  createIndex: () => {
    throw new Error('not used')
  },
  pollMs: 1_000,
  finalityDepth: blocksOf(rowOf(network).reorganisation, rowOf(network), null),
  dropAfterMs: 0,
  batchMax: 50,
  development: false,
  thrifty: usualPace(rowOf(network).blockTimeMs, async () => false),
})

describe.each(NETWORK_IDS)('%s', (network) => {
  const row = rowOf(network)
  const asset = ASSET_IDS.find((id) => networkOf(id) === network) ?? 'btc_bitcoin'

  // Guarantee: when a network changes its pace overnight, the scan goes on, what is asked for is as safe in seconds as before, and texts are true.
  describe.each([0.1, 1, 10])('at × %d of its pace', (factor) => {
    const paceMs = row.blockTimeMs * factor
    const finalBehind = row.finalizesAfterMs === null ? null : Math.round(row.finalizesAfterMs / paceMs)
    const measured = measure(headersAt(paceMs, 60), finalBehind)
    const catalog = catalogWith(measured)
    const secondsOf = (blocks: number) => blocks * paceMs

    it('is measured as it is', () => {
      const [blockTime, finality] = compareFacts(row, measured)
      expect((blockTime?.measured ?? 0) / paceMs).toBeCloseTo(1, 1)
      expect(blockTime?.isOff).toBe(factor !== 1)
      expect(catalog.blockTimeMs(network, 'live') / paceMs).toBeCloseTo(1, 1)
      if (row.finalizesAfterMs !== null)
        expect(Math.abs((finality?.measured ?? 0) - row.finalizesAfterMs)).toBeLessThan(1.05 * paceMs)
      expect(finality?.isOff).toBe(false)
    })

    it('asks for as much time as its row, and never for less than its floor', () => {
      const counts = [
        { depth: row.confirmations, blocks: catalog.confirmations(asset, 'live') },
        ...row.confirmationTiers.flatMap(({ confirmations: depth }, index) => {
          const blocks = catalog.confirmationTiers(asset, 'live')[index]?.confirmations
          return depth === 'finalized' || typeof blocks !== 'number' ? [] : [{ depth, blocks }]
        }),
      ]
      for (const { depth, blocks } of counts) {
        expect(secondsOf(blocks)).toBeGreaterThanOrEqual(depth.ms * (1 - ALLOWANCE))
        expect(blocks).toBeGreaterThanOrEqual(depth.blocksMin)
        expect(blocks).toBeLessThanOrEqual(20 * blocksOf(depth, row, null))
        if (blocks > depth.blocksMin) expect(secondsOf(blocks - 1)).toBeLessThan(depth.ms * (1 + ALLOWANCE))
      }
    })

    it('says how long that takes', () => {
      const confirmations = catalog.confirmations(asset, 'live')
      const wait = confirmationWait(catalog, { network, mode: 'live' }, { confirmations, finality: false })
      const finalMs = row.confirmsByFinality ? (row.finalizesAfterMs ?? 0) : 0
      expect(wait / Math.max(secondsOf(confirmations), finalMs)).toBeCloseTo(1, 0)
      expect(wait).toBeGreaterThanOrEqual(secondsOf(confirmations) * (1 - ALLOWANCE))
    })

    it('is not halted by a reorganisation that is shorter than its row says', async () => {
      const source = pacedSource(catalog, sourceOf(network), { measured })
      expect(source.finalityDepth).toBeGreaterThanOrEqual(row.reorganisation.blocksMin)
      expect(source.thrifty?.blockTimeMs).toBe(catalog.blockTimeMs(network, 'live'))
      const depth = Math.max(1, Math.floor((row.reorganisation.ms * (1 - ALLOWANCE)) / paceMs) - 1)
      const head = 1_000_000
      const window = windowAt(head, source.finalityDepth)
      const fork = head - Math.min(depth, source.finalityDepth)
      const found = await findFork(nodeWithFork(fork), window, head)
      expect(secondsOf(source.finalityDepth)).toBeGreaterThanOrEqual(
        Math.min(row.reorganisation.ms, secondsOf(row.reorganisation.blocksMin)) * (1 - ALLOWANCE),
      )
      expect(depth).toBeLessThanOrEqual(source.finalityDepth)
      expect(isTooDeep(found, { height: head, finalizedHeight: null, finalityDepth: source.finalityDepth })).toBe(false)
    })
  })

  // Guarantee: a node cannot argue a payment through with fewer confirmations than the floor of its network, nor stop it for ever.
  it('keeps its floor and a ceiling whatever a node claims', () => {
    for (const claim of [1e-6, 1e-3, 0.5, 3, 1e3, 1e9]) {
      const marks = Array.from({ length: 25 }, (_, at) => [at * 60_000, at * 60_000 * row.blockTimeMs * claim] as const)
      const measured: ChainMeasurements = {
        marks: marks.map(([height, time]) => [height, time]),
        finality: [],
        reorg: null,
      }
      for (const depth of [row.confirmations, row.reorganisation]) {
        const blocks = blocksOf(depth, row, measured)
        expect(blocks).toBeGreaterThanOrEqual(depth.blocksMin)
        expect(blocks).toBeLessThanOrEqual(20 * blocksOf(depth, row, null))
      }
    }
  })

  // Guarantee: chance alone changes no count: two confirmations of Bitcoin stay two.
  it('asks for the same by chance of proof of work', () => {
    if (row.outputs === undefined) return
    let changed = 0
    for (let seed = 1; seed <= 200; seed += 1) {
      const measured = measure(randomHeaders(row.blockTimeMs, seed), null)
      if (blocksOf(row.confirmations, row, measured) !== blocksOf(row.confirmations, row, null)) changed += 1
    }
    expect(changed).toBeLessThanOrEqual(2)
  })

  it('has a row that is old 180 days after it was compared, and not a day before', () => {
    const at = (days: number) => Date.parse(row.checked.on) + days * 86_400_000
    expect(rowAge(row, at(180)).isOld).toBe(false)
    expect(rowAge(row, at(180) + 1).isOld).toBe(true)
  })
})

describe('measuring', () => {
  const HEADERS = headersAt(2_000, 60)
  const paceOf = (measured: ChainMeasurements) =>
    createCatalog({ live: {}, test: {} }).compareFacts('base', measured)[0]?.measured

  it('needs eighteen minutes and 180 blocks', () => {
    expect(paceOf(measure(HEADERS.slice(0, 8 * 30), null))).toBeNull()
    expect(paceOf(measure(HEADERS.slice(0, 20 * 30), null))).toBe(2_000)
    const slow = headersAt(600_000, 1)
    expect(paceOf(measure(slow.slice(0, 170), null))).toBeNull()
    expect(paceOf(measure(slow.slice(0, 200), null))).toBe(600_000)
  })

  it('follows a change within half an hour', () => {
    const last = HEADERS.at(-1)
    if (last === undefined) throw new Error('no header')
    const quick = headersAt(200, 30).map(({ height, time, now }) => ({
      height: height - 1_000_000 + last.height + 1,
      time: time - START + last.time + 2_000,
      now: now - START + last.now + 2_000,
    }))
    const before = measure(HEADERS, null)
    expect(paceOf(before)).toBe(2_000)
    expect((paceOf(measure(quick, null, before)) ?? 0) / 200).toBeCloseTo(1, 1)
  })

  // Guarantee: nobody who writes headers moves the pace with fewer than half of them.
  it.each<[string, (header: Header, index: number) => Header]>([
    ['a day ahead', (header) => ({ ...header, time: header.time + 86_400_000 })],
    ['just ahead enough to count', (header) => ({ ...header, time: header.now + 29_000 })],
    ['an hour behind', (header) => ({ ...header, time: header.time - 3_600_000 })],
    ['at the beginning of time', (header) => ({ ...header, time: 0 })],
  ])('ignores a third of headers with times %s', (_what, lie) => {
    for (const offset of [0, 1, 2]) {
      const headers = HEADERS.slice(0, 33 * 30).map((header, at) =>
        Math.floor(at / 30) % 3 === offset ? lie(header, at) : header,
      )
      const share = (paceOf(measure(headers, null)) ?? 0) / 2_000
      expect(share).toBeGreaterThan(0.7)
      expect(share).toBeLessThan(1.3)
    }
  })

  it('takes no mark from a header that is ahead of our clock by more than clocks differ', () => {
    const measured = measure(HEADERS, null)
    const { height, now } = HEADERS.at(-1) ?? { height: 0, now: 0 }
    expect(measureMove(measured, { height: height + 1_000, time: now + 30_001 }, now)).toBe(measured)
    expect(measureMove(measured, { height: height + 1_000, time: now + 90_000 }, now + 60_000).marks).toHaveLength(25)
  })

  it('forgets marks of our own clock when that was wrong, and marks above a block to which the cursor goes back', () => {
    const measured = measure(HEADERS, null)
    const [first] = measured.marks
    const back = measureMove(measured, { height: (first?.[0] ?? 0) + 1, time: START }, HEADERS.at(-1)?.now ?? 0)
    expect(back.marks).toEqual([first])
    const early = measureMove(measured, { height: 2_000_000, time: START }, START)
    expect(early.marks.every(([, time]) => time <= START + 30_000)).toBe(true)
  })

  it('keeps the deepest reorganisation of 30 days', () => {
    const day = 86_400_000
    const deep = measureReorg(UNMEASURED, 5, START)
    expect(measureReorg(deep, 2, START + day)).toBe(deep)
    expect(measureReorg(deep, 7, START + day).reorg).toEqual({ depth: 7, at: START + day })
    expect(measureReorg(deep, 1, START + 31 * day).reorg).toEqual({ depth: 1, at: START + 31 * day })
  })

  it('names a reorganisation near the depth that halts, and none that is usual', () => {
    const off = (depth: number) => compareFacts(rowOf('bitcoin'), measureReorg(UNMEASURED, depth, START))[2]?.isOff
    expect([off(1), off(70), off(71), off(100)]).toEqual([false, false, true, true])
  })

  it('names a finality that is seconds later only where it is more than a poll', () => {
    const behind = (network: NetworkId, blocks: number) =>
      compareFacts(rowOf(network), measure(headersAt(rowOf(network).blockTimeMs, 60), blocks))[1]?.isOff
    expect(behind('solana', 0)).toBe(false)
    expect(behind('solana', 32)).toBe(false)
    expect(behind('solana', 400)).toBe(true)
    expect(behind('ethereum', 75)).toBe(false)
    expect(behind('ethereum', 200)).toBe(true)
  })
})

/** Blocks of proof of work, with the chance that it has. */
function randomHeaders(paceMs: number, seed: number): readonly Header[] {
  let state = seed
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return (state + 1) / (2 ** 31 + 1)
  }
  let at = START
  return Array.from({ length: 400 }, (_, index) => {
    at += -Math.log(next()) * paceMs
    return { height: index, time: Math.floor(at / 1_000) * 1_000, now: at + 500 }
  })
}

/** The hashes that a scanner of this depth remembers at a head. */
function windowAt(head: number, finalityDepth: number): HashWindow {
  const from = head - 3 * finalityDepth - 300
  let window: HashWindow = []
  for (let height = from; height <= head; height += 100) {
    const to = Math.min(head, height + 99)
    window = extendWindow(
      window,
      Array.from({ length: to - height + 1 }, (_, at) => [height + at, `old${height + at}`] as const),
      finalityDepth,
    )
  }
  return window
}

/** A node that replaced every block above a height. */
const nodeWithFork = (fork: number) =>
  ({
    blockAt: async (height: number) => {
      const hash = height <= fork ? `old${height}` : `new${height}`
      return { height, hash, parentHash: '', time: 0 }
    },
  }) as unknown as ChainClient
