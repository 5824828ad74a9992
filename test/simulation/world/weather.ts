import type { Prng } from '../kernel/prng.ts'
import { must } from '../kernel/violation.ts'
import { callProcess, sendRequest } from './client.ts'
import { CLEAR } from './fault-mix.ts'
import { mendNodes } from './node-conditions.ts'
import { letGoOn, stopFor } from './port-call.ts'
import type { Tenant } from './setup.ts'
import type { Sim } from './sim.ts'

const MINUTE_MS = 60_000
/** Faults that come at a moment come while something is going on: within so long after the beginning of a burst. */
const NEAR_MS = 40 * MINUTE_MS

/** Arranges the faults that are separate events, around the bursts of orders. */
export function arrangeWeather(sim: Sim, bursts: readonly number[], tenants: readonly Tenant[], random: Prng): void {
  const { mix, scheduler } = sim
  const sometime = (): number => random.pick(bursts) + random.next() * NEAR_MS - scheduler.now
  const times = (count: number, what: string, run: (luck: Prng) => void): void => {
    for (let one = 0; one < count; one += 1) {
      const luck = random.fork(`${what}/${one}`)
      scheduler.at(sometime(), 'world', null, what, () => {
        if (sim.healed) return
        sim.touch()
        run(luck)
      })
    }
  }
  times(mix.redisWipes, 'redis wiped', () => {
    sim.fault('F5 wipe')
    sim.redis.wipe()
  })
  times(mix.redisOutages, 'redis away', (luck) => {
    sim.fault('F5 away')
    sim.redis.setUp(false)
    scheduler.at(luck.between(500, 90_000), 'world', null, 'redis back', () => sim.redis.setUp(true))
  })
  times(mix.storeOutages, 'store away', (luck) => {
    sim.fault('F3 away')
    sim.storeDown = true
    scheduler.at(luck.between(500, 30_000), 'world', null, 'store back', () => {
      sim.storeDown = false
    })
  })
  times(mix.stops, 'stopped', (luck) => stop(sim, luck))
  times(mix.clockJumps, 'clock jump', (luck) => {
    const machine = luck.pick(sim.supervisor.machines)
    const by = luck.pick([-3_600_000, 3_600_000, -60_000, 60_000, 5_000])
    sim.fault('F14 jump', `${machine.name} ${by}`)
    machine.skewMs += by
    sim.jumpedAt = scheduler.now
  })
  if (mix.clockSkewMs > 0) {
    for (const machine of sim.supervisor.machines)
      machine.skewMs = Math.round((random.next() * 2 - 1) * mix.clockSkewMs)
  }
  times(mix.isolations, 'no peers', (luck) => isolate(sim, luck))
  times(mix.reorgs, 'reorganisation', (luck) => reorganise(sim, luck))
  sim.deleteEndpoint = (id) => {
    const endpoint = sim.book.endpoints.get(id)
    const tenant = tenants.find(({ workspace }) => workspace.id === endpoint?.workspaceId)
    if (tenant === undefined || endpoint === undefined || endpoint.deletedAt !== null) return
    sim.fault('F16 delete behind')
    endpoint.deletedAt = scheduler.now
    deleteEndpoint(sim, tenant, endpoint, random.fork(`behind/${id}`)).catch(sim.fail)
  }
  times(mix.operatorActions, 'operator', (luck) => {
    operate(sim, tenants, luck).catch(sim.fail)
  })
}

function stop(sim: Sim, luck: Prng): void {
  const alive = sim.supervisor.all().filter(({ process }) => process.alive && !process.frozen)
  if (alive.length > 0) stopFor(sim, luck.pick(alive).process, luck.next() ** 2 * 120_000)
}

/** The nodes of a coin lose their peers, and read what they missed when they have some again. */
function isolate(sim: Sim, luck: Prng): void {
  const coins = [...sim.chains.values()].filter(({ hasMempool }) => hasMempool)
  if (coins.length === 0) return
  const chain = luck.pick(coins)
  const { now } = sim.scheduler
  const until = now + luck.between(60_000, 40 * MINUTE_MS)
  const back = until + luck.between(5_000, 10 * MINUTE_MS)
  sim.fault('F18 no peers', `${chain.id} ${until - now} ${back - until}`)
  chain.isolate(now, until, back)
}

const DEPTH_MAX = 12

/** Waits for a while until there is a transaction that the reorganisation can take along. */
function reorganise(sim: Sim, luck: Prng, tries = 30): void {
  const chain = luck.pick([...sim.chains.values()])
  const { now } = sim.scheduler
  chain.sync(now)
  const newest = chain.blocks.slice(-DEPTH_MAX)
  const from = newest.findLastIndex(({ txs }) => txs.length > 0)
  if (from < 0 && tries > 0) {
    // A look at the chain is nothing that anybody would be awake for.
    sim.scheduler.at(luck.between(10_000, 120_000), 'work', null, 'reorganisation', () => {
      if (!sim.healed) reorganise(sim, luck, tries - 1)
    })
    return
  }
  sim.touch()
  const least = from < 0 ? 1 : newest.length - from
  const depth = Math.min(luck.between(least, DEPTH_MAX), chain.blocks.length - 4)
  sim.fault('F7 reorg', `${chain.id} ${depth}`)
  chain.reorg(now, depth, () => {
    const outcome = luck.next()
    if (outcome < 0.25) return null
    return outcome < 0.5 ? now + luck.between(1_000, 1_800_000) : now
  })
}

async function operate(sim: Sim, tenants: readonly Tenant[], luck: Prng): Promise<void> {
  const kind = luck.pick([
    'delete endpoint',
    'delete endpoint',
    'resend',
    'resend',
    'attach',
    'attach',
    'suspend',
    'revoke',
  ])
  const { store, book } = sim
  const tenant = luck.pick(tenants)
  const decisions = (name: string, input: unknown): Promise<unknown> =>
    callProcess(sim, 'operators', name, input, luck, kind)
  sim.fault(`F16 ${kind}`)
  switch (kind) {
    case 'delete endpoint': {
      const known = [...book.endpoints.values()].filter(
        (one) => one.workspaceId === tenant.workspace.id && one.deletedAt === null,
      )
      if (known.length === 0) return
      const waiting = new Set(
        store.documents('webhook_deliveries').map((row) => row['status'] === 'pending' && row['endpointId']),
      )
      const busy = known.filter(({ id }) => waiting.has(id))
      const endpoint = luck.pick(busy.length > 0 ? busy : known)
      endpoint.deletedAt = sim.scheduler.now
      await deleteEndpoint(sim, tenant, endpoint, luck)
      return
    }
    case 'resend': {
      const deliveries = store.documents('webhook_deliveries')
      if (deliveries.length > 0) await decisions('resend', luck.pick(deliveries)['_id'])
      return
    }
    case 'attach': {
      const open = store.documents('payments').filter((one) => one['state'] === 'confirmed' && one['counted'] === false)
      const payment = open.length > 0 ? luck.pick(open) : null
      const invoices = store
        .documents('invoices')
        .filter((one) => payment !== null && one['_id'] === payment['invoiceId'])
      const [invoice] = invoices
      if (payment === null || invoice === undefined) return
      book.attached.add(String(payment['key']))
      const value = luck.chance(0.5) ? null : 1_000n
      await decisions('attach', { paymentId: payment['_id'], invoiceId: invoice['_id'], value })
      return
    }
    case 'suspend':
      await probe(sim, tenant, 'test', null, luck)
      if ((await decisions('status', { workspaceId: tenant.workspace.id, status: 'suspended' })) === 'lost') return
      await probe(sim, tenant, 'test', 403, luck)
      await sim.sleep(luck.between(1_000, 120_000), 'suspended')
      for (let attempt = 0; attempt < 200; attempt += 1) {
        if ((await decisions('status', { workspaceId: tenant.workspace.id, status: 'active' })) !== 'lost') return
        await sim.sleep(5_000, 'lift the suspension')
      }
      return
    default:
      await probe(sim, tenant, 'live', null, luck)
      if ((await decisions('revoke', tenant.keys.live.id)) !== 'lost') await probe(sim, tenant, 'live', 401, luck)
  }
}

/** Uses a key a few times on all processes; once its end was acknowledged it works nowhere. */
async function probe(
  sim: Sim,
  tenant: Tenant,
  mode: 'live' | 'test',
  expected: number | null,
  luck: Prng,
): Promise<void> {
  const request = { method: 'GET', path: '/invoices', apiKey: tenant.keys[mode].apiKey } as const
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      const answer = await sendRequest(sim, request, luck)
      if (expected === null || answer === 'lost' || answer.status >= 500) return
      must(answer.status === expected, 'S11', () => `a key whose end was acknowledged was answered ${answer.status}`)
    }),
  )
}

async function deleteEndpoint(
  sim: Sim,
  tenant: Tenant,
  endpoint: { readonly id: string; readonly mode: string },
  luck: Prng,
): Promise<void> {
  const apiKey = tenant.keys[endpoint.mode === 'test' ? 'test' : 'live'].apiKey
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const answer = await sendRequest(sim, { method: 'DELETE', path: `/webhook-endpoints/${endpoint.id}`, apiKey }, luck)
    if (answer !== 'lost' && answer.status < 500) return
    await sim.sleep(2_000, 'delete again')
  }
}

/** Ends every fault: what is broken is mended, who was stopped goes on, and no new fault comes. */
export function heal(sim: Sim): void {
  sim.trace.add('=== heals')
  sim.healed = true
  sim.healedAt = sim.scheduler.now
  sim.mix = { ...CLEAR, finalAtHead: sim.mix.finalAtHead }
  sim.storeDown = false
  sim.redis.setUp(true)
  for (const machine of sim.supervisor.machines) {
    if (machine.skewMs !== 0) sim.jumpedAt = sim.scheduler.now
    machine.skewMs = 0
  }
  for (const chain of sim.chains.values()) {
    chain.isolate(sim.scheduler.now, 0, 0)
    mendNodes(chain.conditions)
    for (const which of [0, 1]) chain.restartNode(which, sim.scheduler.now, 0)
  }
  for (const { process } of sim.supervisor.all()) letGoOn(sim, process)
  sim.touch()
}
