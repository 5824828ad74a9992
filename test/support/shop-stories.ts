import { ASSET_IDS, type AssetId } from '#shared/domain/enumerations.ts'
import type { InvoiceEvent } from '#shared/domain/invoice/invoice-event.ts'
import type { PaymentMethod } from '#shared/domain/invoice/model.ts'
import type { Prng } from '#test/simulation/kernel/prng.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A transfer of `base` base units, first seen at `at`; without an asset of the invoice's coin. */
export type Pay = { readonly asset?: AssetId; readonly base: bigint; readonly at: number }

/** What may happen to an invoice. */
interface Moves {
  readonly pay: (pay: Pay) => string
  readonly confirm: (key: string, at: number) => void
  readonly vanish: (key: string, at: number) => void
  readonly accept: (at: number, chosen: readonly { readonly payment: string; readonly valueBase: bigint }[]) => void
  readonly sendBack: (asset: AssetId, base: bigint, at: number) => void
  readonly prepare: (asset: AssetId, base: bigint, at: number) => string
  readonly endRefund: (id: string, at: number, how: 'sent' | 'withdrawn') => void
  readonly apply: (event?: InvoiceEvent) => boolean
  readonly to: (at: number) => void
}

const STORIES = [
  'exact',
  'exact',
  'parts',
  'over',
  'short',
  'tolerated',
  'wrong',
  'late',
  'tooLate',
  'reorg',
  'unpaid',
  'again',
  'returned',
  'withdrawn',
  'refundedFirst',
  'acceptedAfter',
  'reorgAfter',
  'sentWithout',
  'cancelled',
  'rejected',
] as const

/**
 * One of the ways in which money comes, or does not. Each is taken in its turn, and whole the first time: a shop with as many invoices as
 * there are ways has every kind of movement.
 */
export function playStory(
  random: Prng,
  turn: number,
  { due, begin, method }: { readonly due: bigint; readonly begin: number; readonly method: PaymentMethod },
  { pay, confirm, vanish, accept, sendBack, prepare, endRefund, apply, to }: Moves,
): void {
  const story = STORIES[turn % STORIES.length]
  const may = (chance: number): boolean => random.chance(chance) || turn < STORIES.length
  const soon = () => random.between(1, 20) * MINUTE
  const later = () => random.between(1, 30) * DAY + random.between(0, 86_399) * 1_000
  const seen = begin + soon()
  const whole = (base: bigint, at = seen): string => {
    const key = pay({ base, at })
    confirm(key, at + soon())
    return key
  }
  const expire = (at: number): void => {
    to(at)
    apply({ type: 'deadline_reached' })
  }
  if (story === 'unpaid') expire(begin + 2 * HOUR)
  if (story === 'exact') whole(due)
  if (story === 'over') whole(due + due / BigInt(random.between(3, 90)))
  if (story === 'again') {
    whole(due)
    confirm(pay({ base: due, at: seen + 25 * MINUTE }), begin + later())
  }
  if (story === 'returned') {
    whole(due)
    sendBack(method.asset, due / 4n, begin + 2 * DAY)
    // Too late to count, and sent back as a whole.
    whole(due, begin + 3 * DAY)
    sendBack(method.asset, due, begin + 4 * DAY + later())
  }
  const coin = method.asset
  if (story === 'withdrawn') {
    whole(due)
    endRefund(prepare(coin, due / 3n, begin + DAY), begin + 2 * DAY, 'withdrawn')
    endRefund(prepare(coin, due / 3n, begin + 3 * DAY), begin + 3 * DAY + later(), 'sent')
  }
  // A part goes back before the invoice is paid, which waits for the whole price again.
  if (story === 'refundedFirst') {
    whole(due / 3n, begin + MINUTE)
    sendBack(coin, due / 3n, begin + 25 * MINUTE)
    whole(due, begin + 30 * MINUTE)
    if (may(0.5)) sendBack(coin, due, begin + later())
  }
  // Of two parts that came too late one went back before a person accepted both, and the rest goes back after it.
  if (story === 'acceptedAfter') {
    expire(begin + 2 * HOUR)
    whole(due / BigInt(random.between(1, 3)), begin + 3 * DAY)
    whole(due, begin + 4 * DAY)
    sendBack(coin, due / 4n, begin + 5 * DAY)
    accept(begin + 6 * DAY + later(), [])
    if (may(0.5)) sendBack(coin, due / 2n, begin + 40 * DAY)
  }
  // The price came twice, a part went back, and one of both payments left the chain.
  if (story === 'reorgAfter') {
    const first = whole(due)
    const second = whole(due, begin + 3 * DAY)
    sendBack(coin, due + due / BigInt(random.between(2, 9)), begin + 4 * DAY)
    const gone = may(0.5) ? second : first
    vanish(gone, begin + 4 * DAY + later())
    if (may(0.5)) confirm(gone, begin + 36 * DAY)
  }
  if (story === 'sentWithout') {
    const key = whole(due)
    const refund = prepare(coin, due / 2n, begin + DAY)
    vanish(key, begin + 2 * DAY)
    endRefund(refund, begin + 3 * DAY, 'sent')
    if (may(0.7)) confirm(key, begin + 3 * DAY + later())
  }
  if (story === 'cancelled') {
    to(begin + 10 * MINUTE)
    apply({ type: 'cancel_requested' })
    whole(due - due / 5n, begin + 15 * MINUTE)
    if (may(0.6)) accept(begin + later(), [])
    if (may(0.6)) sendBack(coin, due / 2n, begin + 31 * DAY)
  }
  if (story === 'rejected') {
    expire(begin + 2 * HOUR)
    whole(due, begin + 3 * DAY)
    sendBack(coin, due, begin + 4 * DAY + later())
  }
  if (story === 'tolerated') whole(due - due / 2_000n)
  if (story === 'parts') {
    const first = due / BigInt(random.between(2, 9))
    whole(first)
    whole(due - first, seen + 25 * MINUTE)
  }
  if (story === 'short') {
    whole(due / BigInt(random.between(2, 5)))
    expire(begin + 3 * HOUR)
    if (may(0.7)) accept(begin + later(), [])
  }
  if (story === 'late') {
    expire(begin + HOUR + MINUTE)
    whole(due, begin + HOUR + random.between(2, 50) * MINUTE)
  }
  if (story === 'tooLate') {
    expire(begin + 2 * HOUR)
    whole(due, begin + 3 * DAY)
    if (may(0.6)) accept(begin + 4 * DAY + later(), [])
  }
  if (story === 'wrong') {
    const asset = random.pick(ASSET_IDS.filter((id) => id !== method.asset))
    const base = due + BigInt(random.between(0, 1_000_000))
    const key = pay({ asset, base, at: seen })
    confirm(key, seen + soon())
    expire(begin + 2 * HOUR)
    if (may(0.7))
      accept(begin + later(), [{ payment: key, valueBase: due - BigInt(random.between(0, 1)) * (due / 10n) }])
    if (may(0.4)) sendBack(asset, base / BigInt(random.between(1, 4)), begin + 31 * DAY + soon())
  }
  if (story === 'reorg') {
    const key = whole(due)
    const gone = begin + later()
    vanish(key, gone)
    if (may(0.5)) confirm(key, gone + soon() + HOUR)
    return
  }
  if ((story === 'exact' || story === 'over' || story === 'parts') && may(0.4)) {
    sendBack(method.asset, due / BigInt(random.between(1, 5)), begin + later())
  }
}
