import type { AdminDeps } from '#services/admin/assemble.ts'
import { budgetOf, type Work } from '#services/admin/work-budgets.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { HashingLimiter } from '#shared/ports/hashing-limiter.ts'
import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import { createMemoryAdmission } from '#shared/queues/memory/memory-signals.ts'
import { createHashingLimiter } from '#shared/runtime/secrets/hashing-limiter.ts'
import { evaluateSlowly } from '#shared/usecases/accounts/login-throttle.ts'
import { requestPasswordReset } from '#shared/usecases/accounts/reset-own-password.ts'
import { createFundsGate } from '#shared/usecases/funds/funds-gate.ts'
import type { Probe, Sources } from './scarce-probe.ts'

const never = new Promise<never>(() => undefined)
/** Everything that is already decided has settled by the next turn of the event loop. */
const turn = () => new Promise<'waits'>((resolve) => setImmediate(() => resolve('waits')))

/** Each thing that people and programs share. The dashboard's own dependencies, with a clock that stands still. */
export const PEOPLE_PROBES = {
  dashboardStreams: async (deps) => slots(deps.streams, SCARCE.dashboardStreams.budget.perOwner),
  eventStreams: async (deps) => slots(deps.listen.slots, SCARCE.eventStreams.budget.perOwner),
  eventCatchUps: async (deps) => slots(deps.listen.catchUps, SCARCE.eventCatchUps.budget.perOwner),
  pictures: async (deps) => workOf(deps, 'image'),
  passwordHashes: async (deps) => workOf(deps, 'hash'),
  linkHashes: async (deps) => workOf(deps, 'link'),
  exports: async (deps) => workOf(deps, 'export'),
  walletReadings: async (deps) => workOf(deps, 'wallet'),
  nodeSearches: async (deps) => workOf(deps, 'nodes'),
  apiRequests: async () => {
    const { limiter } = createMemoryAdmission(() => 1_000_000)
    const buckets: Sources<string> = { one: 'key:one', other: 'key:other' }
    return { budget: SCARCE.apiRequests.budget.burst, take: async (who) => await admits(limiter, buckets[who]) }
  },
  balanceReadings: async () => {
    const gate = createFundsGate(() => 0)
    let page = 0
    const take = async (who: keyof Sources<string>) => {
      page += 1
      const refused = gate
        .run(who, `page ${page}`, () => never)
        .then(
          () => 'read',
          () => 'refused',
        )
      return (await Promise.race([refused, turn()])) !== 'refused'
    }
    // One is being read while the others wait.
    return { budget: SCARCE.balanceReadings.budget.waiting + 1, take }
  },
  passwordTries: async (deps) => {
    const lanes: HashingLimiter = createHashingLimiter(() => () => undefined)
    const take = async (who: keyof Sources<string>) => {
      let isChecked = false
      const check = async (): Promise<null> => {
        isChecked = true
        return await never
      }
      evaluateSlowly({ ...deps, lanes }, { lane: who, counters: [] }, check).catch(() => undefined)
      await turn()
      return isChecked
    }
    // The next one waits for its turn.
    return { budget: 1, take }
  },
  resetRequests: async (deps) => {
    const request = (group: string) => {
      const origin = { ip: group, group, userAgent: 'x', device: null }
      return requestPasswordReset(deps, { email: 'nobody@example.com', origin, publicUrl: 'https://x.example' })
    }
    const take = async (who: keyof Sources<string>) =>
      await request(`203.0.113.${who}`).then(
        () => true,
        () => false,
      )
    // The first one after the free ones begins the wait.
    return { budget: SCARCE.resetRequests.budget.free + 1, take }
  },
} as const satisfies Readonly<Record<string, (deps: AdminDeps) => Promise<Probe>>>

const workOf = (deps: AdminDeps, work: Work): Probe =>
  slots({ enter: (ownerId) => deps.budgets.enter(work, ownerId) }, budgetOf(work).perOwner)

function slots(from: AdminDeps['streams'], budget: number): Probe {
  const left: (() => void)[] = []
  return {
    budget,
    take: async (who) => {
      try {
        left.push(from.enter(who))
        return true
      } catch {
        return false
      }
    },
    end: async () => {
      for (const leave of left) leave()
    },
  }
}

async function admits(limiter: RateLimiter, bucket: string): Promise<boolean> {
  const nobody = { keyId: null, workspaceId: null, publish: { keyEpoch: null, workspaceEpoch: null }, marker: null }
  return (await limiter.admit({ bucket, ...nobody })).allowed
}
