import { CHAINS } from '#shared/chains/definitions/registry.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { createInvariants } from './invariants/invariants.ts'
import { drainMicrotasks, realNow, takeOverGlobals } from './kernel/globals.ts'
import { createPrng, type Prng } from './kernel/prng.ts'
import { createScheduler } from './kernel/scheduler.ts'
import { createTrace } from './kernel/trace.ts'
import { takeEvaluated, Violation } from './kernel/violation.ts'
import { apiProgram } from './processes/api.ts'
import { operatorProgram } from './processes/operators.ts'
import { packerProgram } from './processes/packer.ts'
import { invoicesProgram, ratesProgram, scannerProgram, webhooksProgram } from './processes/workers.ts'
import { createMemoryStore } from './store/memory-store.ts'
import { createBook } from './world/book.ts'
import { createSimChain, type SimChain } from './world/chain.ts'
import { CLEAR, drawFaults, type FaultMix } from './world/fault-mix.ts'
import { createIdle } from './world/idle.ts'
import { createMarket } from './world/market.ts'
import { type MerchantPlan, type Order, runMerchant } from './world/merchant.ts'
import { attend } from './world/person.ts'
import { createSimRedis } from './world/redis.ts'
import { arrangeScanModes, drawScanModes } from './world/scan-modes.ts'
import { setUpTenants } from './world/setup.ts'
import type { Sim } from './world/sim.ts'
import { assetsOf } from './world/sim-assets.ts'
import { createSupervisor, type Plan } from './world/supervisor.ts'
import { arrangeTrouble, drawTrouble } from './world/trouble.ts'
import { arrangeWeather, heal } from './world/weather.ts'

const START = Date.UTC(2026, 9, 1)
const HOUR_MS = 3_600_000
/** The orders of a burst come within so long: close enough to meet each other. */
const ORDERS_MS = 300_000
/** A seed that takes more events than this goes round in circles. */
const STEPS_MAX = 400_000

/** What became of one seed. */
export interface SeedResult {
  readonly seed: string
  /** SHA-256 of everything that happened: equal for equal code and seed. */
  readonly hash: string
  readonly steps: number
  readonly virtualMs: number
  readonly realMs: number
  readonly faults: Readonly<Record<string, number>>
  /** How often each guarantee was asked. */
  readonly evaluated: Readonly<Record<string, number>>
  readonly counts: Readonly<Record<string, number>>
  /** The whole trace, when it was asked for. */
  readonly lines: readonly string[]
  readonly violation: {
    readonly invariant: string
    readonly message: string
    readonly step: number
    readonly at: string
    readonly trace: readonly string[]
  } | null
}

export interface SeedOptions {
  readonly seed: string
  readonly clear?: boolean
  readonly echo?: (line: string) => void
}

/** Runs one seed from its first event to the end of its liveness checks. */
export async function runSeed({ seed, clear = false, echo }: SeedOptions): Promise<SeedResult> {
  const startedAt = realNow()
  takeEvaluated()
  const random = createPrng(seed)
  const trace = createTrace(echo)
  const scheduler = createScheduler({ startAt: START, trace, drain: drainMicrotasks })
  const restore = takeOverGlobals(scheduler)
  let escaped: unknown = null
  const onEscape = (error: unknown): void => {
    escaped ??= new Violation(
      'S0',
      `${scheduler.current?.name ?? 'the outside'} left a rejection to nobody: ${error instanceof Error ? error.stack : String(error)}`,
    )
  }
  process.on('unhandledRejection', onEscape)
  let failure: unknown = null
  let sim: Sim | null = null
  try {
    const world = buildWorld(seed, clear ? CLEAR : drawFaults(random.fork('faults')), random, trace, scheduler)
    sim = world.sim
    await world.run(() => {
      if (escaped !== null) throw escaped
    })
  } catch (error) {
    failure = error
  } finally {
    process.off('unhandledRejection', onEscape)
    restore()
  }
  return {
    seed,
    hash: trace.hash(),
    steps: scheduler.steps,
    virtualMs: scheduler.now - START,
    realMs: realNow() - startedAt,
    faults: Object.fromEntries(sim?.faults ?? []),
    evaluated: takeEvaluated(),
    counts: sim === null ? {} : countsOf(sim),
    lines: [],
    violation:
      failure === null
        ? null
        : {
            invariant: failure instanceof Violation ? failure.invariant : 'S0',
            message:
              failure instanceof Violation
                ? failure.message
                : failure instanceof Error
                  ? (failure.stack ?? failure.message)
                  : String(failure),
            step: scheduler.steps,
            at: new Date(scheduler.now).toISOString(),
            trace: trace.last(),
          },
  }
}

function countsOf(sim: Sim): Record<string, number> {
  const counts: Record<string, number> = { requests: sim.book.requests, crashes: sim.supervisor.crashes }
  for (const name of ['invoices', 'payments', 'events', 'webhook_deliveries', 'exceptions', 'mails']) {
    counts[name] = sim.store.documents(name).length
  }
  for (const invoice of sim.store.documents('invoices')) {
    const status = `invoice ${String(invoice['status'])}`
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

function buildWorld(
  seed: string,
  mix: FaultMix,
  random: Prng,
  trace: ReturnType<typeof createTrace>,
  scheduler: ReturnType<typeof createScheduler>,
) {
  const troubled = drawTrouble(random.fork('trouble'), mix === CLEAR)
  const chains = drawChains(random.fork('chains'), troubled?.network ?? null)
  const faults = new Map<string, number>()
  const invariants = createInvariants(() => sim)
  const supervisor = createSupervisor(
    () => sim,
    [...drawPlans(chains, random.fork('plans')), ...drawPackers(random.fork('packers'))],
    random.fork('restarts'),
  )
  const sim: Sim = {
    seed,
    random,
    trace,
    scheduler,
    supervisor,
    chains: new Map(chains.map((chain) => [chain.id, chain])),
    scanPlans: drawScanModes(chains, random.fork('scan modes')),
    market: createMarket(
      () => sim.mix,
      (name) => sim.fault(name),
      random.fork('market'),
    ),
    redis: createSimRedis(() => sim, random.fork('redis')),
    store: createMemoryStore({ now: () => scheduler.now, onChange: (change) => invariants.changed(change) }),
    book: createBook(
      (arrival, endpoint) => invariants.arrived(arrival, endpoint),
      (begun) => invariants.began(begun),
    ),
    mix,
    trouble: troubled?.trouble ?? null,
    healed: false,
    healedAt: Number.POSITIVE_INFINITY,
    storeDown: false,
    storeLagsUntil: Number.NEGATIVE_INFINITY,
    activeAt: scheduler.now,
    jumpedAt: Number.NEGATIVE_INFINITY,
    clocksHold: mix.clockJumps === 0 && mix.clockSkewMs === 0,
    mailsAreCertain: mix === CLEAR,
    frozenAt: new Map(),
    recordedAt: new Map(),
    faults,
    deleteEndpoint: () => undefined,
    fault(name, detail = '') {
      faults.set(name, (faults.get(name) ?? 0) + 1)
      trace.add(`  * ${name} ${detail}`)
    },
    touch() {
      sim.activeAt = scheduler.now
    },
    fail(error) {
      invariants.fail(error)
    },
    sleep: (ms, what) => new Promise((resolve) => void scheduler.at(ms, 'world', null, what, resolve)),
  }
  return { sim, run: (check: () => void) => runWorld(sim, random, invariants, check) }
}

async function runWorld(
  sim: Sim,
  random: Prng,
  invariants: ReturnType<typeof createInvariants>,
  check: () => void,
): Promise<void> {
  const { scheduler } = sim
  const tenants = await setUpTenants(sim, random.fork('setup'))
  invariants.start()
  sim.supervisor.startAll()
  const bursts = drawBursts(random.fork('bursts'), scheduler.now)
  arrangeWeather(sim, bursts, tenants, random.fork('weather'))
  arrangeScanModes(sim, bursts, random.fork('scan modes'))
  arrangeTrouble(sim, bursts, random.fork('trouble of nodes'))
  attend(sim, random.fork('person')).catch(sim.fail)
  let working = tenants.length
  for (const [index, tenant] of tenants.entries()) {
    const luck = random.fork(`merchant/${index}`)
    runMerchant(sim, tenant, drawMerchant(sim, bursts, luck.fork('plan')), luck).then(() => {
      working -= 1
    }, sim.fail)
  }
  const calm = random.fork('calm')
  const healAt =
    Math.max(...bursts) + HOUR_MS + (calm.chance(0.3) ? calm.next() * 50 * HOUR_MS : calm.next() * 3 * HOUR_MS)
  scheduler.at(healAt - scheduler.now, 'world', null, 'heal', () => heal(sim))
  const idle = createIdle(sim, () => sim.healed && working === 0)
  while (scheduler.steps < STEPS_MAX) {
    if (idle.isOver()) break
    if (!(await scheduler.step())) throw new Violation('L3', 'nothing will ever happen again')
    check()
    invariants.check()
  }
  if (scheduler.steps >= STEPS_MAX) throw new Violation('L3', `no end after ${STEPS_MAX} events`)
  invariants.finish()
}

function drawChains(random: Prng, troubled: NetworkId | null): SimChain[] {
  const place = (mode: Mode, network: NetworkId): SimChain => {
    const { family } = CHAINS[network]
    const blockMs = network === 'bitcoin' ? 120_000 : 30_000
    return createSimChain({ mode, network, family, blockMs }, START, random.fork(`${mode}:${network}`))
  }
  if (troubled !== null) return [place('live', troubled)]
  return random.pick([
    () => [place('test', 'ethereum')],
    () => [place('live', 'ethereum')],
    () => [place('live', 'bitcoin')],
    () => [place('test', 'bitcoin'), place('live', 'ethereum')],
    () => [place('live', 'bitcoin'), place('test', 'ethereum')],
    () => [place('live', 'ethereum'), place('test', 'ethereum')],
  ])()
}

function drawPlans(chains: readonly SimChain[], random: Prng): Plan[] {
  const some = () => random.pick([1, 1, 2])
  return [
    { type: 'api', instances: 2, program: apiProgram },
    { type: 'operators', instances: 1, program: operatorProgram },
    { type: 'invoices', instances: some(), program: invoicesProgram },
    { type: 'webhooks', instances: some(), program: webhooksProgram },
    { type: 'rates', instances: some(), program: ratesProgram },
    ...chains.map((chain) => ({
      type: `scanner-${chain.id}`,
      instances: random.pick([1, 2, 2]),
      program: scannerProgram(chain),
    })),
  ]
}

/** In some seeds addresses move out of the memory of scanners, by one job or by two at once. */
function drawPackers(random: Prng): Plan[] {
  const instances = random.pick([0, 0, 0, 1, 2])
  return instances === 0 ? [] : [{ type: 'packer', instances, program: packerProgram }]
}

function drawBursts(random: Prng, now: number): number[] {
  const first = now + random.between(8_000, 60_000)
  return Array.from({ length: random.between(1, 3) }, (_, index) => first + index * random.next() * 8 * HOUR_MS)
}

function drawMerchant(sim: Sim, bursts: readonly number[], random: Prng): MerchantPlan {
  const chains = [...sim.chains.values()]
  // A shop that opens its sale at one moment sends all its orders at once.
  const rush = random.chance(0.2) ? random.pick(bursts) : null
  const order = (): Order => {
    const chain = random.pick(chains)
    const assets = assetsOf(chain.network)
    return {
      at: rush ?? random.pick(bursts) + random.next() * ORDERS_MS,
      mode: chain.mode,
      asset: random.chance(0.7) ? random.pick(assets) : null,
    }
  }
  const modes = [...new Set(chains.map(({ mode }) => mode))]
  return {
    endpoints: Array.from({ length: random.between(1, 3) }, () => (random.chance(0.3) ? 'both' : random.pick(modes))),
    orders: Array.from({ length: random.between(2, 5) }, order),
    lateEndpoint: random.chance(0.3)
      ? { at: random.pick(bursts) + random.next() * ORDERS_MS, mode: random.pick(modes) }
      : null,
  }
}
