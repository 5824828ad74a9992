import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { visitorShare } from '#shared/usecases/quotes/visitor-budget.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of counting the invoices of link visitors. */
export type LinkQuotaDeps = Uses<'counts' | 'exceptions' | 'clock'>

/** Reserves a share of the monthly plan that visitors of payment links cannot use. */
export interface LinkQuota {
  /**
   * Runs `create` while this month's invoices from links leave the merchant's share of the plan untouched. Creations of one
   * workspace and mode run one after another, so that many concurrent visitors exceed the bound by at most one for each
   * checkout process. Throws `PLAN_LIMIT_REACHED` without running `create`; the merchant gets one exception a month.
   */
  within<T>(workspace: Workspace, mode: Mode, create: () => Promise<T>): Promise<T>
}

/** The quota of one process. */
export function createLinkQuota(deps: LinkQuotaDeps): LinkQuota {
  const last = new Map<string, Promise<unknown>>()

  const inTurn = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    const done = mine.catch(() => undefined)
    last.set(key, done)
    await done
    if (last.get(key) === done) last.delete(key)
    return await mine
  }

  return {
    within(workspace, mode, create) {
      const limit = workspace.limits.invoicesPerMonth
      if (limit === null) return create()
      return inTurn(`${workspace.id} ${mode}`, async () => {
        const share = visitorShare(limit, workspace.policy)
        const { byLinks: used } = await deps.counts.inMonth(
          { workspaceId: workspace.id, mode, at: deps.clock.now() },
          share,
        )
        if (used < share) return await create()
        await warn(deps, workspace, mode, share, limit)
        throw new PaymeshError('PLAN_LIMIT_REACHED', {
          message: 'This payment link cannot take more payments right now. Ask the merchant for another way to pay.',
          internal: `links made ${used} of ${share} invoices this month`,
        })
      })
    },
  }
}

async function warn(
  deps: LinkQuotaDeps,
  workspace: Workspace,
  mode: Mode,
  share: number,
  limit: number,
): Promise<void> {
  const openedAt = deps.clock.now()
  const month = new Date(openedAt).toISOString().slice(0, 7)
  await deps.exceptions.openOnce([
    {
      id: `visitors_limited:plan:${workspace.id}:${mode}:${month}`,
      kind: 'visitors_limited',
      workspaceId: workspace.id,
      mode,
      invoiceId: null,
      paymentKey: null,
      detail: `Payment links created ${share} of the ${limit} invoices of this month's plan (${mode}), which is their limit. Further visitors cannot pay; the rest is reserved for your own integrations.`,
      openedAt,
      closedAt: null,
    },
  ])
}
