import { PaymeshError } from '#shared/contracts/errors.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { InvoiceWorth } from '#shared/domain/payment/confirmation-tiers.ts'
import { exceedsUsd } from '#shared/domain/payment/exceeds-usd.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { AssetRate } from '#shared/ports/rates.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type OwnerNoticeDeps, ownerNotices } from './owner-notices.ts'

/** Dependencies of checking a decision about money. */
export type LargeSumDeps = OwnerNoticeDeps & Uses<'rates'>

/** The person who decides about a workspace's money. */
export interface Decider {
  readonly workspace: Pick<Workspace, 'id' | 'policy'>
  readonly actor: string
  /** Address that the request came from, or the place. */
  readonly from: string
  /** Why, in that person's words. */
  readonly reason?: string | undefined
  /** Throws when this person may not decide about so much now. Absent = they may. */
  readonly demand?: () => void
}

/**
 * The mails to every owner about a decision about more money than the workspace's threshold, to be stored with the decision; none in test
 * mode and below it. `worth` null = it cannot be shown to be small, and is above every threshold. The decider's `demand` runs before a mail
 * is made.
 */
export async function largeSumMails(
  deps: OwnerNoticeDeps,
  { workspace, from, demand }: Pick<Decider, 'workspace' | 'from' | 'demand'>,
  { worth, audit }: { readonly worth: InvoiceWorth | null; readonly audit: AuditRecord },
): Promise<readonly MailRecord[]> {
  if (audit.mode === 'test') return []
  const usd = workspace.policy.largeSumUsd
  if (worth !== null && !exceedsUsd(worth, usd)) return []
  demand?.()
  return await ownerNotices(deps, { audit, from })
}

/** The rate of an asset now, in the series that the workspace chose; null without a fresh one. */
export async function freshRate(
  { rates }: Pick<LargeSumDeps, 'rates'>,
  { policy }: Pick<Workspace, 'policy'>,
  request: { readonly asset: AssetRate['asset']; readonly fiat: FiatCode },
): Promise<AssetRate | null> {
  try {
    return await rates.rateFor({ ...request, arsSeries: policy.arsSeries })
  } catch (error) {
    if (!(error instanceof PaymeshError)) throw error
    return null
  }
}
