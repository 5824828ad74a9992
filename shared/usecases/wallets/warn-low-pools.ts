import type { Ms } from '#shared/domain/invoice/model.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressClaim } from './address-standing.ts'

/** Owners are warned when at most this share of a pool is free, in percent. */
const LOW_PERCENT = 20
/** How often a pool is counted. */
const EVERY_MS = 10 * 60_000
const DAY_MS = 86_400_000
const PAGE = 500

/** Dependencies of counting pools. */
export type WatchPoolsDeps = Runtime & Uses<'wallets' | 'invoices' | 'workspaces' | 'exceptions' | 'mails'>

/** Number of addresses in a pool, and how many of them no invoice holds. */
export interface PoolCount {
  readonly total: number
  readonly free: number
}

/** Makes a pool watch that keeps in memory when it counted each pool. */
export function createPoolWatch(deps: WatchPoolsDeps) {
  const countedAt = new Map<string, Ms>()
  return {
    /** Counts the pools that are due; cheap to call often. */
    async run(shouldStop: () => boolean = () => false): Promise<void> {
      const due = (await deps.wallets.listMaterials()).filter(
        ({ id, kind }) => kind === 'pool' && deps.clock.now() - (countedAt.get(id) ?? 0) >= EVERY_MS,
      )
      for (const material of due) {
        if (shouldStop()) return
        countedAt.set(material.id, deps.clock.now())
        await evaluate(deps, material, await countPool(deps, material))
      }
    },
  }
}

/** Counts a pool from its rows and the claims of invoices. */
export async function countPool(
  deps: Pick<WatchPoolsDeps, 'wallets' | 'invoices'>,
  material: Pick<KeyMaterial, 'id' | 'mode' | 'family'>,
): Promise<PoolCount> {
  let total = 0
  let taken = 0
  let after: string | null = null
  do {
    const page: readonly { matchKey: string }[] = await deps.wallets.heldPage(material.id, after, PAGE)
    const claims = page.map(({ matchKey }) => addressClaim(material.mode, material.family, matchKey))
    total += page.length
    taken += (await deps.invoices.claimsTaken(claims)).size
    after = page.length < PAGE ? null : (page.at(-1)?.matchKey ?? null)
  } while (after !== null)
  return { total, free: total - taken }
}

async function evaluate(deps: WatchPoolsDeps, material: KeyMaterial, { total, free }: PoolCount): Promise<void> {
  const { mode, family } = material
  const owners = await deps.wallets.workspacesUsing(material.id)
  const low = free * 100 <= total * LOW_PERCENT
  if (low) deps.metrics.count('pool_addresses_low_total', { family, mode })
  const now = deps.clock.now()
  const idOf = (workspaceId: string) => `addresses_low:${material.id}:${workspaceId}`
  if (!low) return deps.exceptions.close(owners.map(idOf), now)
  const detail = `${free} of ${total} addresses of the ${family} pool (${mode}) are free. Add more addresses to the pool.`
  await deps.exceptions.open(
    owners.map((workspaceId) => ({
      id: idOf(workspaceId),
      kind: 'addresses_low' as const,
      workspaceId,
      mode,
      invoiceId: null,
      paymentKey: null,
      detail,
      openedAt: now,
      closedAt: null,
    })),
  )
  const workspaces = await Promise.all(owners.map((id) => deps.workspaces.findById(id)))
  await deps.mails.insertMany(
    workspaces.flatMap((workspace) =>
      workspace === null
        ? []
        : [
            {
              id: `${idOf(workspace.id)}:${Math.floor(now / DAY_MS)}`,
              workspaceId: workspace.id,
              template: 'addresses_low' as const,
              to: workspace.ownerEmail,
              data: { family, mode, free: String(free), total: String(total) },
              createdAt: now,
            },
          ],
    ),
  )
}
