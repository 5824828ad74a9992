import { IconBan, IconCheck } from '@tabler/icons-react'
import { showCount, showDecimal } from '../../format/amounts.ts'
import { Money } from '../../parts/money.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import type { LinkRow } from '../money/answers.ts'

/** Whether a link accepts payments. */
export function LinkStatus({ status }: Pick<LinkRow, 'status'>) {
  return status === 'active' ? (
    <ToneBadge tone="paid" icon={IconCheck}>
      Active
    </ToneBadge>
  ) : (
    <ToneBadge tone="cancelled" icon={IconBan}>
      Inactive
    </ToneBadge>
  )
}

/** The amount that a payer pays, or may choose. */
export function LinkAmount({ link }: { readonly link: LinkRow }) {
  const { amount, currency, min_amount: least, max_amount: most } = link
  if (amount !== null) return <Money value={amount} currency={currency} />
  const from = least === null ? null : showDecimal(least)
  const to = most === null ? null : showDecimal(most)
  const words =
    from === null ? (to === null ? 'Any amount,' : `Up to ${to}`) : to === null ? `From ${from}` : `${from} – ${to}`
  return <span className="pm-num">{`${words} ${currency}`}</span>
}

/** How many places of a limited link are taken; of any other link the invoices made from it. */
export function LinkUses({ link }: { readonly link: LinkRow }) {
  const { uses, max_uses: most, uses_taken: taken } = link
  const words = most === null || taken === null ? showCount(uses) : `${showCount(taken)} of ${showCount(most)}`
  return <span className="pm-num">{words}</span>
}
