import { type Child, cpuSecondsOf, pause } from './child.ts'
import { type DeliveryStage, matched } from './delivery-stage.ts'
import { medianAndRange, percentile } from './statistics.ts'
import { type WorkMeter, workText } from './work-counts.ts'

/** Invoices a second. */
export const PACES = [10, 100, 300] as const
/** A pace is measured for so long at least. */
const SECONDS_MIN = 5
/** The last invoice of a measurement reaches its receiver, and its outcome the store, within this time. */
export const TAIL_MS = 1_500

/** Delays at each pace, over all rounds. */
export type Delays = Map<number, { readonly p50: number[]; readonly p99: number[] }>

/** What is measured at each pace, and with which stage and meter. */
export interface PacedRun {
  readonly stage: DeliveryStage
  readonly meter: WorkMeter
  /** Those whose CPU an invoice costs: the product's and the stores'. */
  readonly processes: Readonly<Record<string, MeasuredProcess>>
  readonly seconds: number
  /** Where invoices are created; null for the product's API. */
  readonly origin: string | null
  readonly print: (line: string) => void
}

/** Creates invoices at a pace, prints what an invoice costs, and notes its delay from the answer to the webhook. */
export async function runPace(
  { stage, meter, processes, seconds, origin, print }: PacedRun,
  perSecond: number,
  delays: Delays,
): Promise<void> {
  await pause(1_000)
  const cpu = cpuMeter(processes)
  const span = await meter.begin()
  const { created } = await stage.create({ perSecond }, Math.max(seconds, SECONDS_MIN), origin)
  await pause(TAIL_MS)
  const work = workText(await span.perItem(created.length))
  await stage.settle()
  const used = `${cpu(created.length)}; ${work}`
  const found = matched(created, await stage.take())
  const since = (from: (one: (typeof found)[number]) => number) => found.map((one) => one.arrivedAt - from(one))
  const commit = since(({ answeredAt }) => answeredAt)
  const request = since(({ intendedAt }) => intendedAt)
  const [p50, p99] = [percentile(commit, 0.5), percentile(commit, 0.99)]
  const known = delays.get(perSecond) ?? { p50: [], p99: [] }
  known.p50.push(p50)
  known.p99.push(p99)
  delays.set(perSecond, known)
  const ms = (value: number) => `${value.toFixed(1)} ms`
  print(
    `${perSecond}/s: commit to arrival p50 ${ms(p50)} p99 ${ms(p99)}; intended request to arrival p50 ${ms(percentile(request, 0.5))} p99 ${ms(percentile(request, 0.99))}; ${used}`,
  )
}

/** The median and range over all rounds at each pace. */
export function reportPaces(delays: Delays, print: (line: string) => void): void {
  for (const [pace, { p50, p99 }] of delays) {
    print(`commit to arrival at ${pace}/s: p50 ${medianAndRange(p50, 1)} ms, p99 ${medianAndRange(p99, 1)} ms`)
  }
}

/** The median and range of the ratios of one side's delays to the other's, round by round. */
export function reportRatios(delays: Delays, floor: Delays, print: (line: string) => void): void {
  for (const [pace, { p50, p99 }] of delays) {
    const bare = floor.get(pace) ?? { p50: [], p99: [] }
    const ratios = (own: readonly number[], other: readonly number[]) =>
      medianAndRange(
        own.map((ms, at) => ms / (other[at] ?? Number.NaN)),
        2,
      )
    print(`ratio to the floor at ${pace}/s: p50 ${ratios(p50, bare.p50)}, p99 ${ratios(p99, bare.p99)}`)
  }
}

/** A process whose CPU time can be read. */
export type MeasuredProcess = Pick<Child, 'cpuSeconds'>

export const processOf = (pid: number | null): MeasuredProcess => ({ cpuSeconds: () => cpuSecondsOf(pid ?? undefined) })

/** CPU time per item of each process since now, and their sum. With everything in one process the first name stands for it. */
export function cpuMeter(processes: Readonly<Record<string, MeasuredProcess>>): (items: number) => string {
  const before = Object.entries(processes)
    .filter(([, child], at, all) => all.findIndex(([, other]) => other === child) === at)
    .map(([name, child]) => [name, child, child.cpuSeconds()] as const)
  return (items) => {
    const used = before.map(([name, child, since]) => {
      const now = child.cpuSeconds()
      return [name, since === null || now === null ? Number.NaN : ((now - since) * 1e6) / items] as const
    })
    const sum = used.reduce((total, [, micros]) => total + micros, 0)
    return `${used.map(([name, micros]) => `${name} ${micros.toFixed(0)} µs`).join(', ')}, together ${sum.toFixed(0)} µs`
  }
}
