import type { Child } from './child.ts'
import { createLoad } from './create-invoice.ts'
import { dueSummary } from './deliveries.ts'
import { openDeliveryStage } from './delivery-stage.ts'
import { measure } from './load.ts'
import type { BenchOptions } from './options.ts'
import { type Rig, type Side, withRig } from './rig.ts'
import { medianAndRange } from './statistics.ts'

const COUNTS = [1, 2, 4] as const
const ROWS_PER_SECOND = 2_400
const CONNECTIONS = 64
/** Until the code is compiled and every key was read once. */
const WARM_UP_SECONDS = 8

/**
 * The same work with one, two and four processes: webhooks from due rows to 100 receivers that respond after 20 ms,
 * and invoices created over connections distributed over API processes. Prints the rows of docs/scaling.md. On a
 * machine whose cores run everything at once, more processes can only show that they cost nothing.
 */
export function benchScale(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const { only, print } = options
    const rows: string[] = []
    if (only === null || only === 'webhooks')
      rows.push(row('`webhooks`: deliveries/s from due rows', await webhooks(rig, options)))
    if (only === null || only === 'api') rows.push(row('`api`: `POST /invoices`/s', await api(rig, options)))
    print('')
    for (const each of rows) print(each)
  })
}

const row = (title: string, figures: readonly (readonly number[])[]): string =>
  `| ${[title, ...figures.map((values) => medianAndRange(values))].join(' | ')} |`

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
