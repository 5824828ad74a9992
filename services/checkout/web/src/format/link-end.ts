import type { LinkView } from '#shared/contracts/checkout/invoice-view.ts'
import type { MessageKey } from '../locales/en.ts'
import { roughText } from './format-values.ts'

/** Why a link takes no payment now, and what the payer can do: the keys of both texts, and the wait that the second one names. */
export function linkEnd({ isSuspended, isUsedUp, retryAfter }: LinkView): {
  readonly title: MessageKey
  readonly text: MessageKey
  readonly t: string
} {
  const t = retryAfter === undefined ? '' : roughText(retryAfter * 1_000)
  if (isSuspended === true) return { title: 'pick.suspended', text: 'link.suspendedSub', t }
  if (isUsedUp !== true) return { title: 'link.ended', text: 'link.endedSub', t }
  return { title: 'link.usedUp', text: t === '' ? 'link.usedUpSub' : 'link.usedUpNow', t }
}
