import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { ExceptionRepository } from '#shared/ports/exceptions.ts'
import type { InvoiceRepository } from '#shared/ports/invoices.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { monthStart } from '#shared/usecases/invoices/create-invoice.ts'
import { visitorShare } from '#shared/usecases/quotes/visitor-budget.ts'

/** What counting the invoices of link visitors needs. */
export interface LinkQuotaDeps {
  readonly invoices: Pick<InvoiceRepository, 'countCreatedSince'>
  readonly exceptions: Pick<ExceptionRepository, 'openOnce'>
  readonly clock: Clock
}

/** Keeps a share of the monthly plan away from visitors of payment links. */
export interface LinkQuota {
  /**
   * Runs `create` while the invoices that links made this month leave the merchant's share of the plan alone. Creations of one
   * workspace and mode run one after another, so that many visitors at once exceed the bound by at most one for each
   * checkout process. Throws `PLAN_LIMIT_REACHED` without running `create`; the merchant gets one inbox entry a month.
   */
  within<T>(workspace: Workspace, mode: Mode, create: () => Promise<T>): Promise<T>
}

/** Makes the quota of one process. */
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
        const since = monthStart(deps.clock.now())
        const used = await deps.invoices.countCreatedSince(workspace.id, mode, since, 'link')
        if (used < share) return await create()
        await warn(deps, workspace, mode, share, limit)
        throw new PaymeshError('PLAN_LIMIT_REACHED', {
          message: 'This payment link takes no new payments right now. Ask the merchant for another way to pay.',
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
      detail: `Payment links made ${share} of the ${limit} invoices of this month's plan (${mode}), which is all that their visitors may. Further visitors are turned away; the rest stays reserved for your own programs.`,
      openedAt,
      closedAt: null,
    },
  ])
}
