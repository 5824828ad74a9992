import autocannon from 'autocannon'
import type { BenchOptions } from './options.ts'
import type { Side } from './rig.ts'

const CONNECTIONS = [64, 128] as const
/** Until the code is compiled and every key was read once. */
const WARM_UP_SECONDS = 8

/** One request. */
export interface LoadRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** The requests to both sides. */
export interface Load {
  readonly method: 'POST'
  readonly body: string
  /** The status that counts. */
  readonly status: 201
  /** The next request; `turn` counts up over the whole benchmark. */
  readonly next: (turn: number) => LoadRequest
  /** Awaited before every measurement, so that unfinished work does not burden the next one. */
  readonly settle?: () => Promise<void>
  /** The fault of the side's store after `counted` responses, or null when it matches them. */
  readonly check?: (side: Side, counted: number, connections: number) => Promise<string | null>
}

/** The two servers of a comparison. */
export interface Sides {
  readonly api: Side
  readonly bare: Side
}

/** Lets both servers compile and fill their caches. */
export async function warmUp(sides: Sides, load: Load): Promise<void> {
  await measure(sides.bare, load, CONNECTIONS[0], WARM_UP_SECONDS)
  await measure(sides.api, load, CONNECTIONS[0], WARM_UP_SECONDS)
}

/** Measures both servers alternately, with alternating order, and prints the median and the range of the ratios. */
export async function compare(
  title: string,
  sides: Sides,
  load: Load,
  { seconds, rounds, print }: Pick<BenchOptions, 'seconds' | 'rounds' | 'print'>,
): Promise<void> {
  print(`\n${title}`)
  for (const connections of CONNECTIONS) {
    const ratios: number[] = []
    const costs: number[] = []
    for (let round = 1; round <= rounds; round += 1) {
      const { api, bare } = await measureBoth(sides, load, connections, seconds, round % 2 === 0)
      ratios.push(api.perSecond / bare.perSecond)
      if (bare.cpuMicros !== null && api.cpuMicros !== null) costs.push(bare.cpuMicros / api.cpuMicros)
      print(`  ${connections} connections, round ${round}: api ${describe(api)}, bare ${describe(bare)}`)
    }
    print(`  ${connections} connections: ratio ${summary(ratios)}`)
    if (costs.length > 0) print(`  ${connections} connections: server CPU of bare ÷ api ${summary(costs)}`)
  }
}

async function measureBoth(sides: Sides, load: Load, connections: number, seconds: number, apiFirst: boolean) {
  const first = apiFirst ? await measure(sides.api, load, connections, seconds) : null
  const bare = await measure(sides.bare, load, connections, seconds)
  return { bare, api: first ?? (await measure(sides.api, load, connections, seconds)) }
}

interface Measurement {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly refused: number
  /** CPU time of the serving process per counted response; null where the system does not report it. */
  readonly cpuMicros: number | null
}

let turn = 0

/** One run of load; throws when its check finds a fault. */
export async function measure(side: Side, load: Load, connections: number, seconds: number): Promise<Measurement> {
  await load.settle?.()
  const cpuBefore = side.child.cpuSeconds()
  const result = await autocannon({
    url: side.origin,
    method: load.method,
    connections,
    duration: seconds,
    body: load.body,
    requests: [
      {
        setupRequest: (request) => {
          turn += 1
          return { ...request, ...load.next(turn) }
        },
      },
    ],
  })
  const cpuAfter = side.child.cpuSeconds()
  const counted = result.statusCodeStats[load.status]?.count ?? 0
  const fault = (await load.check?.(side, counted, connections)) ?? null
  if (fault !== null)
    throw new Error(`${fault}; ${result.errors} errors, statuses ${JSON.stringify(result.statusCodeStats)}`)
  const { p50, p99 } = result.latency
  const cpuMicros = cpuBefore === null || cpuAfter === null ? null : ((cpuAfter - cpuBefore) * 1_000_000) / counted
  const refused = result.non2xx + result.errors
  return { perSecond: counted / result.duration, p50, p99, refused, cpuMicros }
}

function describe({ perSecond, p50, p99, refused, cpuMicros }: Measurement): string {
  const cpu = cpuMicros === null ? '' : ` cpu ${cpuMicros.toFixed(0)} µs`
  return `${perSecond.toFixed(0)}/s p50 ${p50} ms p99 ${p99} ms${cpu}${refused > 0 ? ` (${refused} refused)` : ''}`
}

/** Median with the lowest and the highest value. */
function summary(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const median = ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
  return `${percent(median)} (median; ${percent(sorted[0] ?? 0)} to ${percent(sorted.at(-1) ?? 0)})`
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(1)} %`
}
