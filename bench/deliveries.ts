import { otherCheckout } from './against.ts'
import { type Child, freePort, pause } from './child.ts'
import { type Floor, openFloor } from './delivery-floor.ts'
import { type DeliveryStage, matched, openDeliveryStage } from './delivery-stage.ts'
import type { Arrival } from './merchant.ts'
import type { BenchOptions } from './options.ts'
import {
  cpuMeter,
  type Delays,
  type MeasuredProcess,
  PACES,
  processOf,
  reportPaces,
  runPace,
  TAIL_MS,
} from './paced-delays.ts'
import { type Rig, withRig } from './rig.ts'
import { medianAndRange, percentile } from './statistics.ts'
import { storeProcesses } from './store-processes.ts'
import { createWorkMeter, type WorkCounts, type WorkMeter, workText } from './work-counts.ts'

/** Prepared rows for each second of a measurement; more than any machine of this size sends. */
const ROWS_PER_SECOND = 2_400
/** Concurrent invoices from request to webhook when the rate is measured. */
const OUTSTANDING = 512
/** At this pace every invoice is alone: batched writes wait for 40 ms at most. */
const LONE_PACE = 5
const LONE_SECONDS = 8
/** Background work without invoices is counted for this long. */
const IDLE_MS = 10_000

/**
 * Throughput and delay of webhooks: from due rows, from invoice to webhook, and from commit at a given pace; compared
 * with a bare loop of POSTs to the same 100 receivers, which respond after 20 ms. Everything runs on this machine, each
 * process as the Procfile starts it.
 */
export async function benchDeliveries(options: BenchOptions): Promise<void> {
  const { isServe = false, ...common } = options
  const measured = (print: (line: string) => void, serve: boolean, run: (side: Side) => Promise<void>) =>
    withRig({ ...common, isServe: serve, print }, (rig) => withSide({ ...common, print }, rig, run))
  await measured(options.print, false, async (own) => {
    if (!isServe) return await alternate(options, [own])
    await measured(
      (line) => options.print(`serve: ${line}`),
      true,
      (serve) => alternate(options, [own, serve]),
    )
  })
}

/** One form of the product under the same load. */
interface Side {
  runRound(round: number): Promise<void>
  report(): void
}

async function alternate(options: BenchOptions, sides: readonly Side[]): Promise<void> {
  const other = options.against == null ? null : otherCheckout(options.against, 'deliveries', options)
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const side of sides) await side.runRound(round)
    other?.runRound(round)
  }
  for (const side of sides) side.report()
  other?.report()
}

async function withSide(options: BenchOptions, rig: Rig, run: (side: Side) => Promise<void>): Promise<void> {
  const stage = await openDeliveryStage(rig)
  const services = { webhooks: await rig.startService('webhooks') }
  const { mongod, redis } = await storeProcesses(rig.api.db, rig.stores.redisUrl)
  const processes = { api: rig.api.child, ...services, mongod: processOf(mongod), redis: processOf(redis) }
  const figures: Figures = { bare: [], due: [], whole: [], delays: new Map(), lone: [] }
  const meter = createWorkMeter(rig.api.db, rig.stores.redisUrl)
  try {
    await warmUp(stage)
    await meter.countIdle(pause, IDLE_MS)
    const floor = options.hasFloor === true ? await openFloor(rig, stage, meter) : null
    await run({
      runRound: async (round) => {
        const print = (line: string) => options.print(`  round ${round}: ${line}`)
        await oneRound(
          { rig, stage, services, processes, meter, options: { ...options, print }, floor, number: round },
          figures,
        )
      },
      report: () => {
        report(figures, options)
        floor?.report(figures.delays, options.print)
      },
    })
  } finally {
    meter.close()
  }
}

interface Figures {
  readonly bare: number[]
  readonly due: number[]
  readonly whole: number[]
  readonly delays: Delays
  /** For a lone invoice. */
  readonly lone: WorkCounts[]
}

interface Round {
  readonly rig: Rig
  readonly stage: DeliveryStage
  readonly services: Services
  /** Those whose CPU an invoice costs: the product's and the stores'. */
  readonly processes: Readonly<Record<string, MeasuredProcess>>
  readonly meter: WorkMeter
  readonly options: BenchOptions
  readonly floor: Floor | null
  /** From 1. */
  readonly number: number
}

async function oneRound(round: Round, figures: Figures): Promise<void> {
  const { print, only } = round.options
  if (only === null || only === 'due') {
    const bare = await barePosts(round)
    const due = await fromDueRows(round)
    figures.bare.push(bare)
    figures.due.push(due.perSecond)
    print(`bare ${bare.toFixed(0)}/s, from due rows ${due.text}`)
  }
  if (only === null || only === 'whole') {
    const whole = await fromInvoices(round)
    figures.whole.push(whole.perSecond)
    print(`from POST /invoices ${whole.text}`)
  }
  if (only === null || only === 'lone') print(await lone(round, figures))
  if (only !== null && only !== 'paced') return
  for (const pace of PACES) await paced(round, pace, figures.delays)
}

/** The product and the floor in turn, and in every other round the other way about: other load of the machine meets both. */
async function paced({ stage, meter, processes, options, floor, number }: Round, pace: number, delays: Delays) {
  const { seconds, print } = options
  const slices = [
    () => runPace({ stage, meter, processes, seconds, origin: null, print }, pace, delays),
    async () => await floor?.runPace(pace, seconds, (line) => print(`floor: ${line}`)),
  ]
  for (const slice of number % 2 === 1 ? slices : slices.toReversed()) await slice()
}

function report({ bare, due, whole, delays, lone: counts }: Figures, { print }: BenchOptions): void {
  if (due.length > 0) {
    print(`bare loop of POSTs: ${medianAndRange(bare)}/s`)
    print(`from due rows: ${medianAndRange(due)}/s`)
    const ratios = due.map((perSecond, at) => perSecond / (bare[at] ?? 1))
    print(`ratio to the bare loop: ${medianAndRange(ratios, 2)}`)
  }
  if (whole.length > 0) print(`from POST /invoices to invoice.created: ${medianAndRange(whole)}/s`)
  if (counts.length > 0) {
    const range = (of: keyof WorkCounts) =>
      medianAndRange(
        counts.map((one) => one[of]),
        1,
      )
    print(
      `a lone invoice: ${range('commands')} commands, ${range('majorityWrites')} majority writes, ${range('journalSyncs')} journal syncs, ${range('queueScripts')} queue scripts`,
    )
  }
  reportPaces(delays, print)
}

/** Everything compiled, every connection open, every cap grown. */
async function warmUp(stage: DeliveryStage): Promise<void> {
  await stage.makeDue(60)
  await stage.settle()
  await stage.create({ outstanding: OUTSTANDING }, 4)
  await stage.settle()
  await stage.take()
}

async function barePosts({ rig, stage, options }: Round): Promise<number> {
  const port = await freePort()
  const child = await rig.startHelper('bench/bare-posts.ts', port, {
    BARE_PORT: String(port),
    BARE_URLS: JSON.stringify(stage.endpoints.map(({ url }) => url)),
    BARE_SECONDS: String(options.seconds),
  })
  const response = await fetch(`http://127.0.0.1:${port}/`)
  const { posts, seconds: took } = (await response.json()) as { posts: number; seconds: number }
  await child.stop()
  await stage.take()
  return posts / took
}

type Services = Readonly<Record<'webhooks', Child>>

async function fromDueRows({ stage, options, services: { webhooks } }: Round) {
  const perEndpoint = Math.ceil((ROWS_PER_SECOND * options.seconds) / stage.endpoints.length)
  await stage.makeDue(perEndpoint)
  const cpu = cpuMeter({ webhooks, receiver: stage.merchant })
  await stage.settle()
  const arrivals = await stage.take()
  const expected = perEndpoint * stage.endpoints.length
  return summary(arrivals, expected, cpu(expected))
}

async function fromInvoices({ rig, stage, options, services }: Round) {
  const cpu = cpuMeter({ api: rig.api.child, ...services, merchant: stage.merchant })
  const { created, refused } = await stage.create({ outstanding: OUTSTANDING }, options.seconds)
  if (Object.keys(refused).length > 0) throw new Error(`the API refused invoices: ${JSON.stringify(refused)}`)
  await stage.settle()
  const arrivals = await stage.take()
  matched(created, arrivals)
  return summary(arrivals, created.length, cpu(created.length))
}

function summary(arrivals: readonly Arrival[], expected: number, cpu: string) {
  const { perSecond, twice } = dueSummary(arrivals, expected)
  return { perSecond, text: `${perSecond.toFixed(0)}/s, ${twice} of ${expected} twice, ${cpu}` }
}

/**
 * The rate of the middle nine tenths (neither the first wake-ups nor the last rows of the slowest endpoint) and the number of
 * duplicates. Throws when one did not arrive.
 */
export function dueSummary(
  arrivals: readonly Arrival[],
  expected: number,
): { readonly perSecond: number; readonly twice: number } {
  const unique = new Set(arrivals.map(({ deliveryId }) => deliveryId)).size
  if (unique < expected) throw new Error(`${expected} deliveries were due, ${unique} came`)
  const times = arrivals.map(({ at }) => at)
  const seconds = (percentile(times, 0.95) - percentile(times, 0.05)) / 1_000
  const perSecond = (0.9 * arrivals.length) / seconds
  return { perSecond, twice: arrivals.length - unique }
}

/** Counts the work of both stores for lone invoices. */
async function lone({ stage, meter }: Round, { lone: counts }: Figures): Promise<string> {
  const span = await meter.begin()
  const { created } = await stage.create({ perSecond: LONE_PACE }, LONE_SECONDS)
  await pause(TAIL_MS)
  const work = await span.perItem(created.length)
  counts.push(work)
  await stage.settle()
  matched(created, await stage.take())
  return `alone: ${workText(work)}`
}
