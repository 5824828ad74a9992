import { Pool } from 'undici'
import { pause } from './child.ts'
import { createLoad } from './create-invoice.ts'
import { getLoad } from './get-invoice.ts'
import { type Load, type Sides, warmUp } from './load.ts'
import type { BenchOptions } from './options.ts'
import { type Side, withRig } from './rig.ts'
import { seedInvoices } from './seed-invoices.ts'
import { medianAndRange } from './statistics.ts'
import { createWorkMeter, type WorkMeter, workText } from './work-counts.ts'

const PACES = [10, 100] as const
/** At ten requests a second a shorter measurement has too few of them for the 10 ms in which the system counts CPU time. */
const SECONDS_MIN = 10
const CONNECTIONS = 8
/** Work after the last response: wake-ups, log lines. */
const TAIL_MS = 500
/** Each key makes 1.7 requests a second: its records stay cached, and its bucket never empties. */
const KEYS_PER_REQUEST = 0.6
/** Greater than any turn of the warm-up, so that no idempotency key is used twice. */
const FIRST_TURN = 1_000_000_000

/**
 * CPU of the API process for a lone request, at 10 and 100 requests a second, against bare `node:http` with one native command
 * at the same pace, in turns. CPU used in the same time without requests is subtracted on both sides. Both processes compiled
 * their code under full load before. Requests use few keys, whose records are cached.
 */
export function benchRequestCost(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const ids = await seedInvoices(rig)
    const get = { api: rig.api, bare: await rig.startBare('get', rig.api.db) }
    const create = { api: rig.api, bare: await rig.startBare('create', await rig.openDatabase()) }
    const meter = createWorkMeter(rig.api.db, rig.stores.redisUrl)
    try {
      await warmUp(get, getLoad(rig, ids))
      await warmUp(create, createLoad(rig))
      await meter.countIdle(pause, SECONDS_MIN * 1_000)
      for (const pace of PACES) {
        const few = { ...rig, keys: rig.keys.slice(0, pace * KEYS_PER_REQUEST) }
        const work = { pace, meter, options }
        await compareCost('GET /invoices/{id}', get, getLoad(few, ids), work)
        await compareCost('POST /invoices', create, createLoad(few), work)
      }
    } finally {
      meter.close()
    }
  })
}

interface Work {
  /** Requests per second. */
  readonly pace: number
  readonly meter: WorkMeter
  readonly options: BenchOptions
}

async function compareCost(title: string, sides: Sides, load: Load, { pace, meter, options }: Work): Promise<void> {
  const api: number[] = []
  const bare: number[] = []
  const seconds = Math.max(SECONDS_MIN, options.seconds)
  let work = ''
  for (let round = 1; round <= options.rounds; round += 1) {
    bare.push(await cpuMicros(sides.bare, load, pace, seconds))
    const span = await meter.begin()
    api.push(await cpuMicros(sides.api, load, pace, seconds))
    work = workText(await span.perItem(pace * seconds))
    options.print(
      `  ${title} at ${pace}/s, round ${round}: api ${api.at(-1)?.toFixed(0)} µs, bare ${bare.at(-1)?.toFixed(0)} µs`,
    )
  }
  const ratios = api.map((micros, index) => micros / (bare[index] ?? Number.NaN))
  options.print(
    `${title} at ${pace}/s: api ${medianAndRange(api)} µs, bare ${medianAndRange(bare)} µs, ratio ${medianAndRange(ratios, 2)}; ${work}`,
  )
}

let turn = FIRST_TURN

/** CPU time of the process for one request, µs, without what it uses in the same time without requests. */
async function cpuMicros({ origin, child }: Side, load: Load, pace: number, seconds: number): Promise<number> {
  const used = async (work: () => Promise<void>): Promise<number> => {
    const before = child.cpuSeconds() ?? Number.NaN
    await work()
    return (child.cpuSeconds() ?? Number.NaN) - before
  }
  const idle = await used(() => pause(seconds * 1_000 + TAIL_MS))
  const busy = await used(async () => {
    await sendPaced(origin, load, pace, seconds)
    await pause(TAIL_MS)
  })
  return ((busy - idle) * 1_000_000) / (pace * seconds)
}

/** Sends requests, each at its own time whatever happened to earlier ones; throws on an unexpected response. */
async function sendPaced(origin: string, load: Load, pace: number, seconds: number): Promise<void> {
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 })
  const send = async (): Promise<void> => {
    turn += 1
    const { path, headers, expect = [] } = load.next(turn)
    const response = await pool.request({ path, method: load.method, headers, body: load.body ?? null })
    const text = await response.body.text()
    if (response.statusCode !== load.status || !expect.every((part) => text.includes(part)))
      throw new Error(`${load.method} ${path} was answered ${response.statusCode}: ${text.slice(0, 200)}`)
  }
  const startedAt = performance.now()
  const sent: Promise<void>[] = []
  for (let index = 0; index < pace * seconds; index += 1) {
    const waitMs = startedAt + (index * 1_000) / pace - performance.now()
    if (waitMs > 0) await pause(waitMs)
    sent.push(send())
  }
  await Promise.all(sent)
  await pool.close()
}
