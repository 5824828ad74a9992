import { pause } from './child.ts'
import { type DeliveryStage, matched, openDeliveryStage } from './delivery-stage.ts'
import type { BenchOptions } from './options.ts'
import { type Rig, withRig } from './rig.ts'
import { medianAndRange, percentile } from './statistics.ts'

/** Concurrent invoices from request to webhook when the maximum is measured. */
const OUTSTANDING = 512
/** A hanging receiver is detected after the first deadline of 10 s; the time before is measured as well. */
const SECONDS_MIN = 10
const WARM_UP_SECONDS = 4
/** The rows of the last invoices are stored by then. */
const LAST_ARRIVAL_MS = 1_500
/** A limit that doubles from 4 has been tried at 32 after four answers of 5 s. */
const PACED_SECONDS = 60

interface Case {
  readonly name: string
  /** Delay of the answer of the first receivers, in ms; null hangs. */
  readonly answers: readonly (number | null)[]
  /** Deliveries a second that each of them gets on top, by place. */
  readonly paced?: readonly number[]
  /** Maximum growth factor of the others' p99. */
  readonly limit: number
}

const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value)
const CASES: readonly Case[] = [
  { name: '1 of 100 hangs', answers: [null], limit: 1.25 },
  { name: '20 of 100 hang', answers: times(20, null), limit: 2 },
  { name: '20 of 100 answer after 5 s', answers: times(20, 5_000), limit: 1.25 },
  { name: 'one of 700 ms gets 24/s, one of 5 s gets 5/s', answers: [700, 5_000], paced: [24, 5], limit: 1.25 },
]
const PROCESSES = [1, 3] as const

/**
 * Effect of slow receivers on the others: invoices at half of the highest rate, from commit to the arrival of their webhook at
 * the good receivers, compared with a run without slow ones; with one and with three processes.
 */
export function benchIsolation(options: BenchOptions): Promise<void> {
  const { print, rounds, only } = options
  return withRig(options, async (rig) => {
    const stage = await openDeliveryStage(rig)
    const perSecond = await halfOfMaximum(rig, stage, options.seconds)
    print(`at ${perSecond} invoices per second, half of the maximum`)
    const ratios = new Map<string, number[]>()
    for (let round = 1; round <= rounds; round += 1) {
      for (const processes of PROCESSES) {
        if (only !== null && only !== String(processes)) continue
        const seconds = Math.max(options.seconds, SECONDS_MIN)
        const setting = { rig, stage, perSecond, processes }
        const alone = await measure({ ...setting, seconds }, null)
        print(`  round ${round}, ${processes} processes: all good: ${text(alone)}`)
        for (const one of CASES) {
          const found = await measure({ ...setting, seconds: one.paced === undefined ? seconds : PACED_SECONDS }, one)
          const name = `${one.name}, ${processes} processes (at most ${one.limit})`
          ratios.set(name, [...(ratios.get(name) ?? []), found.p99 / alone.p99])
          print(`  round ${round}, ${name}: ${text(found)}, p99 × ${(found.p99 / alone.p99).toFixed(2)}`)
        }
      }
    }
    for (const [name, found] of ratios) print(`${name}: the others' p99 × ${medianAndRange(found, 2)}`)
  })
}

async function halfOfMaximum(rig: Rig, stage: DeliveryStage, seconds: number): Promise<number> {
  const webhooks = await rig.startService('webhooks')
  await stage.create({ outstanding: OUTSTANDING }, WARM_UP_SECONDS)
  await stage.settle()
  await stage.take()
  await stage.create({ outstanding: OUTSTANDING }, seconds)
  await stage.settle()
  const arrived = (await stage.take()).map(({ at }) => at)
  await webhooks.stop()
  const tookSeconds = (percentile(arrived, 0.95) - percentile(arrived, 0.05)) / 1_000
  return Math.floor((0.9 * arrived.length) / tookSeconds / 2)
}

interface Setting {
  readonly rig: Rig
  readonly stage: DeliveryStage
  readonly perSecond: number
  readonly processes: number
  readonly seconds: number
}

interface Latencies {
  readonly p50: number
  readonly p99: number
  /** Deliveries of the slow receivers that wait at the end. */
  readonly waiting: number
}

/** Uses new dispatchers, so that their measurements of the receivers in one case do not affect the next. */
async function measure({ rig, stage, perSecond, processes, seconds }: Setting, slow: Case | null): Promise<Latencies> {
  const webhooks = await Promise.all(times(processes, null).map(() => rig.startService('webhooks')))
  const answers = slow?.answers ?? []
  const behave = () => stage.behave(Object.fromEntries(answers.entries()))
  // A receiver that hangs would never let the warm-up end; one that was always slow was so before.
  if (slow?.paced !== undefined) await behave()
  await stage.create({ perSecond }, WARM_UP_SECONDS)
  await stage.settle()
  await stage.take()
  await behave()
  const [{ created }] = await Promise.all([
    stage.create({ perSecond }, seconds),
    ...(slow?.paced ?? []).map((pace, at) => stage.makeDueEverySecond(at, pace, seconds)),
  ])
  await pause(LAST_ARRIVAL_MS)
  await stage.settle(answers.length)
  const waiting = await stage.countOverdue(answers.length)
  const arrivals = await stage.take()
  const good = created.filter((invoice) => stage.endpointOf(invoice) >= answers.length)
  const delays = matched(good, arrivals).map(({ arrivedAt, answeredAt }) => arrivedAt - answeredAt)
  await Promise.all(webhooks.map((each) => each.stop()))
  await stage.behave({})
  await stage.forgetPending()
  await stage.take()
  return { p50: percentile(delays, 0.5), p99: percentile(delays, 0.99), waiting }
}

function text({ p50, p99, waiting }: Latencies): string {
  return `p50 ${p50.toFixed(1)} ms p99 ${p99.toFixed(1)} ms, ${waiting} due to slow receivers wait`
}
