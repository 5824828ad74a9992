import { pause } from './child.ts'
import { type DeliveryStage, ENDPOINTS, matched, openDeliveryStage } from './delivery-stage.ts'
import type { Manner } from './merchant.ts'
import type { BenchOptions } from './options.ts'
import { type Rig, withRig } from './rig.ts'
import { medianAndRange, percentile } from './statistics.ts'

/** Concurrent invoices from request to webhook when the maximum is measured. */
const OUTSTANDING = 512
/** A hanging receiver is detected after the first deadline of 10 s; the time before is measured as well. */
const SECONDS_MIN = 10

const WARM_UP_SECONDS = 4
/** Longer than a good receiver's last webhook should take. */
const LAST_ARRIVAL_MS = 1_500

interface Case {
  readonly name: string
  readonly bad: number
  readonly manner: Manner
  /** Maximum growth factor of the others' p99; null where only memory is checked. */
  readonly limit: number | null
}

const CASES: readonly Case[] = [
  { name: '1 of 100 hangs', bad: 1, manner: 'hang', limit: 1.25 },
  { name: '20 of 100 hang', bad: 20, manner: 'hang', limit: 2 },
  { name: '20 of 100 drip', bad: 20, manner: 'drip', limit: null },
  { name: '20 of 100 answer with a gigabyte', bad: 20, manner: 'flood', limit: null },
]

/**
 * Effect of bad receivers on the others: invoices at half of the highest rate, from commit to the arrival of their webhook at
 * the good receivers, compared with a run without bad ones; and the memory of the dispatcher.
 */
export function benchIsolation(options: BenchOptions): Promise<void> {
  const { print, rounds } = options
  return withRig(options, async (rig) => {
    const stage = await openDeliveryStage(rig)
    const perSecond = await halfOfMaximum(rig, stage, options.seconds)
    print(`at ${perSecond} invoices per second, half of the maximum`)
    const ratios = new Map<Case, number[]>()
    const peaks = new Map<Case | null, number>()
    for (let round = 1; round <= rounds; round += 1) {
      const seconds = Math.max(options.seconds, SECONDS_MIN)
      const alone = await measure({ rig, stage, perSecond, seconds }, null)
      peaks.set(null, Math.max(peaks.get(null) ?? 0, alone.peakBytes))
      print(`  round ${round}: all good: ${describe(alone)}`)
      for (const one of CASES) {
        const found = await measure({ rig, stage, perSecond, seconds }, one)
        ratios.set(one, [...(ratios.get(one) ?? []), found.p99 / alone.p99])
        peaks.set(one, Math.max(peaks.get(one) ?? 0, found.peakBytes))
        print(`  round ${round}: ${one.name}: ${describe(found)}, p99 × ${(found.p99 / alone.p99).toFixed(2)}`)
      }
    }
    for (const one of CASES) {
      const bar = one.limit === null ? '' : ` (at most ${one.limit})`
      const memory = `${megabytes(peaks.get(one) ?? 0)} MB, ${megabytes(peaks.get(null) ?? 0)} MB with good ones only`
      print(
        `${one.name}: the others' p99 × ${medianAndRange(ratios.get(one) ?? [], 2)}${bar}; memory at most ${memory}`,
      )
    }
  })
}

async function halfOfMaximum(rig: Rig, stage: DeliveryStage, seconds: number): Promise<number> {
  const webhooks = await rig.startService('webhooks')
  await stage.create({ outstanding: OUTSTANDING }, 4)
  await stage.settle()
  await stage.take()
  await stage.create({ outstanding: OUTSTANDING }, seconds)
  await stage.settle()
  const times = (await stage.take()).map(({ at }) => at)
  await webhooks.stop()
  const tookSeconds = (percentile(times, 0.95) - percentile(times, 0.05)) / 1_000
  return Math.floor((0.9 * times.length) / tookSeconds / 2)
}

interface Setting {
  readonly rig: Rig
  readonly stage: DeliveryStage
  readonly perSecond: number
  readonly seconds: number
}

interface Found {
  readonly p50: number
  readonly p99: number
  readonly peakBytes: number
}

/** Uses a new dispatcher, so that its measurements of the receivers in one case do not affect the next. */
async function measure({ rig, stage, perSecond, seconds }: Setting, bad: Case | null): Promise<Found> {
  const webhooks = await rig.startService('webhooks')
  await stage.create({ perSecond }, WARM_UP_SECONDS)
  await stage.settle()
  await stage.take()
  const count = bad?.bad ?? 0
  const manner = (which: Manner, many: number) =>
    Object.fromEntries(Array.from({ length: many }, (_, at) => [at, which]))
  await stage.behave(manner(bad?.manner ?? 'ok', count))
  const { created } = await stage.create({ perSecond }, seconds)
  await pause(LAST_ARRIVAL_MS)
  const arrivals = await stage.take()
  const peakBytes = webhooks.peakBytes() ?? 0
  const good = created.filter((invoice) => stage.endpointOf(invoice) >= count)
  const delays = matched(good, arrivals).map(({ arrivedAt, answeredAt }) => arrivedAt - answeredAt)
  await webhooks.stop()
  await stage.behave(manner('ok', ENDPOINTS))
  await stage.forgetPending()
  await stage.take()
  return { p50: percentile(delays, 0.5), p99: percentile(delays, 0.99), peakBytes }
}

function describe({ p50, p99, peakBytes }: Found): string {
  return `p50 ${p50.toFixed(1)} ms p99 ${p99.toFixed(1)} ms, ${megabytes(peakBytes)} MB`
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
