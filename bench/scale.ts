import { type Child, pause } from './child.ts'
import { createLoad } from './create-invoice.ts'
import { dueSummary } from './deliveries.ts'
import { openDeliveryStage } from './delivery-stage.ts'
import { measure } from './load.ts'
import type { BenchOptions } from './options.ts'
import { PEPPER, type Rig, type Side, seedKeys, withRig } from './rig.ts'
import { medianAndRange, percentile } from './statistics.ts'
import { createWorkMeter } from './work-counts.ts'

const COUNTS = [1, 2, 4] as const
const ROWS_PER_SECOND = 2_400
const CONNECTIONS = 64
/** Until the code is compiled and every key was read once. */
const WARM_UP_SECONDS = 8
/** One shop with two endpoints, and keys enough for the pace: each may create two invoices a second. */
const PACE = 100
const SHOP = { workspaces: 1, keys: 100, endpoints: 2 } as const
/** Until processes have counted each other again, by their heartbeats. */
const COUNTED_MS = 16_000
const TAIL_MS = 1_500

/**
 * The same work with one, two and four processes: webhooks from due rows to 100 receivers that respond after 20 ms,
 * what invoices at a pace cost the store, and invoices created over connections distributed over API processes. Prints the rows of docs/scaling.md. On a
 * machine whose cores run everything at once, more processes can only show that they cost nothing.
 */
export function benchScale(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const { only, print } = options
    const rows: string[] = []
    if (only === null || only === 'webhooks')
      rows.push(row('`webhooks`: deliveries/s from due rows', await webhooks(rig, options)))
    if (only === null || only === 'api') rows.push(row('`api`: `POST /invoices`/s', await api(rig, options)))
    if (only === null || only === 'relay') rows.push(...(await relay(rig, options)))
    print('')
    for (const each of rows) print(each)
  })
}

const row = (title: string, figures: readonly (readonly number[])[], digits = 0): string =>
  `| ${[title, ...figures.map((values) => medianAndRange(values, digits))].join(' | ')} |`

async function webhooks(rig: Rig, { seconds, rounds, print }: BenchOptions): Promise<readonly (readonly number[])[]> {
  const stage = await openDeliveryStage(rig)
  const perEndpoint = Math.ceil((ROWS_PER_SECOND * seconds) / stage.endpoints.length)
  const figures: number[][] = []
  const running: Child[] = []
  for (const count of COUNTS) {
    while (running.length < count) running.push(await rig.startService('webhooks'))
    await stage.makeDue(20)
    await stage.settle()
    await stage.take()
    const found: number[] = []
    for (let round = 1; round <= rounds; round += 1) {
      await stage.makeDue(perEndpoint)
      await stage.settle()
      const { perSecond, twice } = dueSummary(await stage.take(), perEndpoint * stage.endpoints.length)
      found.push(perSecond)
      print(`  webhooks × ${count}, round ${round}: ${perSecond.toFixed(0)}/s, ${twice} twice`)
    }
    figures.push(found)
  }
  // They relay: left running, they would take the cores of what is measured next.
  for (const child of running) await child.stop()
  return figures
}

/** What 100 invoices a second with two webhooks each cost the store and the request, by the number of `webhooks` processes. */
async function relay(rig: Rig, { seconds, rounds, print }: BenchOptions): Promise<readonly string[]> {
  const keys = await seedKeys(rig.api.db, PEPPER, SHOP)
  const stage = await openDeliveryStage({ ...rig, keys }, SHOP.endpoints)
  const running: Child[] = []
  const commands: number[][] = []
  const conflicts: number[][] = []
  const p50: number[][] = []
  const cpu: number[][] = []
  for (const count of COUNTS) {
    while (running.length < count) running.push(await rig.startService('webhooks'))
    await stage.create({ perSecond: PACE }, WARM_UP_SECONDS)
    await pause(COUNTED_MS)
    await stage.settle()
    await stage.take()
    // Idle work is not subtracted: the sweeps and leases of further processes are part of their price.
    const meter = createWorkMeter(rig.api.db, rig.stores.redisUrl)
    const found = { commands: [] as number[], conflicts: [] as number[], p50: [] as number[], cpu: [] as number[] }
    const cpuSeconds = () => running.reduce((sum, child) => sum + (child.cpuSeconds() ?? Number.NaN), 0)
    for (let round = 1; round <= rounds; round += 1) {
      const span = await meter.begin()
      const cpuBefore = cpuSeconds()
      const { created } = await stage.create({ perSecond: PACE }, seconds)
      // The last invoices may not have been relayed: they have no delivery yet.
      await pause(TAIL_MS)
      await stage.settle()
      const work = await span.perItem(created.length)
      const { twice } = dueSummary(await stage.take(), created.length * SHOP.endpoints)
      const delays = created.map(({ intendedAt, answeredAt }) => answeredAt - intendedAt)
      found.cpu.push(((cpuSeconds() - cpuBefore) * 1_000) / created.length)
      found.commands.push(work.commands)
      found.conflicts.push(work.writeConflicts * 1_000)
      found.p50.push(percentile(delays, 0.5))
      print(
        `  relay × ${count}, round ${round}: ${work.commands.toFixed(2)} commands and ${work.writeConflicts.toFixed(4)} conflicts an invoice, p50 ${found.p50.at(-1)?.toFixed(1)} ms, ${found.cpu.at(-1)?.toFixed(2)} ms of webhooks, ${twice} twice`,
      )
    }
    meter.close()
    commands.push(found.commands)
    conflicts.push(found.conflicts)
    p50.push(found.p50)
    cpu.push(found.cpu)
  }
  for (const child of running) await child.stop()
  return [
    row('100 invoices/s, two endpoints: commands per invoice', commands, 1),
    row('… write conflicts per 1,000 invoices', conflicts, 1),
    row('… p50 of `POST /invoices`, ms', p50, 1),
    row('… processor time of `webhooks` per invoice, ms, idle work included', cpu, 2),
  ]
}

async function api(rig: Rig, { seconds, rounds, print }: BenchOptions): Promise<readonly (readonly number[])[]> {
  const load = createLoad(rig)
  const sides: Side[] = [rig.api]
  const figures: number[][] = []
  for (const count of COUNTS) {
    while (sides.length < count) sides.push(await rig.startApi())
    const together = async (length: number): Promise<number> => {
      const each = sides.map((side) => measure(side, load, Math.ceil(CONNECTIONS / count), length))
      return (await Promise.all(each)).reduce((sum, { perSecond }) => sum + perSecond, 0)
    }
    await together(WARM_UP_SECONDS)
    const found: number[] = []
    for (let round = 1; round <= rounds; round += 1) {
      const perSecond = await together(seconds)
      found.push(perSecond)
      print(`  api × ${count}, round ${round}: ${perSecond.toFixed(0)}/s`)
    }
    figures.push(found)
  }
  return figures
}
