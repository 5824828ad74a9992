import { IconBan, IconCheck } from '@tabler/icons-react'
import { Money } from '../../parts/money.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import type { LinkRow } from '../money/answers.ts'

/** Whether a link takes payments. */
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

/** What a payer pays, or may choose. */
export function LinkAmount({ link }: { readonly link: LinkRow }) {
  const { amount, currency, min_amount: least, max_amount: most } = link
  if (amount !== null) return <Money value={amount} currency={currency} />
  if (least === null && most === null) return <span>any amount in {currency}</span>
  return (
    <span className="pm-num">
      {least === null ? 'up to' : `from ${least}`} {most === null ? '' : least === null ? most : `to ${most}`}{' '}
      {currency}
    </span>
  )
}
