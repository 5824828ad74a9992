import { RELAY_LEASE } from '#services/webhooks/relay-lease.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createRepositories, type Repositories } from '#shared/db/create-repositories.ts'
import type { LeaseRepository } from '#shared/ports/leases.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Sim } from '../world/sim.ts'
import { nobodyWaitsFor, nothingPacked, nothingRequested, nothingToWatch, nothingUnconfirmed } from './nothing-due.ts'

/** How long a loop beside a worker takes to ask for its lease. */
const LEISURE_MS = 12_000
const HEADROOM_ANYWAY_MS = 3_600_000

/** The product's repositories. What would find nothing is not asked, so that a seed spends its events on what happens. */
export function simRepositories(sim: Sim, db: Database, runtime: Runtime): Repositories {
  const real = createRepositories(db, runtime)
  const { invoices, wallets, watchPacks, payments, commands } = real
  return {
    ...real,
    leases: atLeisure(sim, real.leases),
    commands: {
      ...commands,
      listOpen: async (...args) => (nothingRequested(sim) ? [] : commands.listOpen(...args)),
    },
    invoices: {
      ...invoices,
      isAnyDue: async (chains, until) => {
        const awaited = chains.filter((chain) => !nobodyWaitsFor(sim, chain))
        return awaited.length > 0 && (await invoices.isAnyDue(awaited, until))
      },
      dueForAction: async (...args) => (nobodyWaitsFor(sim, args[0]) ? [] : invoices.dueForAction(...args)),
    },
    wallets: {
      ...wallets,
      unmarkedWatches: async (mode, family, network, ...rest) =>
        nothingToWatch(sim, mode, family, network) ? [] : wallets.unmarkedWatches(mode, family, network, ...rest),
    },
    watchPacks: {
      ...watchPacks,
      expected: async (...args) => (nothingPacked(sim) ? 0 : watchPacks.expected(...args)),
      heads: async (...args) => (nothingPacked(sim) ? [] : watchPacks.heads(...args)),
    },
    payments: {
      ...payments,
      unconfirmed: async (...args) => (nothingUnconfirmed(sim) ? [] : payments.unconfirmed(...args)),
      dueForConfirmation: async (...args) => (nothingUnconfirmed(sim) ? [] : payments.dueForConfirmation(...args)),
      confirmThrough: async (...args) => (nothingUnconfirmed(sim) ? [] : payments.confirmThrough(...args)),
    },
  }
}

/**
 * Loops ask for their leases up to twice a second. Here only the cycle of rates and the relay do; for the others each question takes its time,
 * addresses are derived when keys or invoices changed, and no key of the simulation waits for a look at its earlier use.
 */
function atLeisure(sim: Sim, leases: LeaseRepository): LeaseRepository {
  const look = (): readonly unknown[] => [
    ...sim.store.documents('key_material'),
    sim.store.documents('invoices').length,
    Math.floor(sim.scheduler.now / HEADROOM_ANYWAY_MS),
  ]
  let seen: readonly unknown[] = []
  const hasNews = (): boolean => {
    const now = look()
    const isSame = now.length === seen.length && now.every((one, at) => one === seen[at])
    seen = now
    return !isSame
  }
  const requests = new Set<string>()
  return {
    ...leases,
    acquire: async (id, owner, leaseMs) => {
      if (id === 'rates' || id === RELAY_LEASE) return leases.acquire(id, owner, leaseMs)
      if (requests.has(id)) await new Promise((resolve) => setTimeout(resolve, LEISURE_MS))
      requests.add(id)
      if (id.startsWith('key-history:') || (id === 'address-headroom' && !hasNews())) return false
      return leases.acquire(id, owner, leaseMs)
    },
  }
}
