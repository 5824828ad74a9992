import {
  IconActivity,
  IconAlertTriangle,
  IconAlignLeft,
  IconArrowDown,
  IconArrowsExchange,
  IconBan,
  IconCheck,
  IconChecks,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleHalf2,
  IconCirclePlusFilled,
  IconClock,
  IconEye,
  IconFlask,
  IconHourglass,
  IconPlayerPause,
  IconRefresh,
  IconStack2,
  IconUnlink,
  type TablerIcon,
} from '@tabler/icons-react'
import type { Tone } from '#shared/contracts/tone.ts'

/** How a status is shown: always a word, an icon and a colour together. */
export interface StatusLabel {
  readonly word: string
  readonly tone: Tone
  readonly icon: TablerIcon
}

const say = (word: string, tone: Tone, icon: TablerIcon): StatusLabel => ({ word, tone, icon })

/** Every status on the pages. Red means that a person must act; an expired invoice is not red. */
export const VOCABULARY = {
  invoice: {
    new: say('New', 'new', IconCircleDashed),
    pending: say('Awaiting payment', 'pending', IconClock),
    partial: say('Partly paid', 'partial', IconCircleHalf2),
    confirming: say('Confirming', 'confirming', IconStack2),
    paid: say('Paid', 'paid', IconCircleCheckFilled),
    overpaid: say('Overpaid', 'overpaid', IconCirclePlusFilled),
    expired: say('Expired', 'expired', IconHourglass),
    cancelled: say('Cancelled', 'cancelled', IconBan),
  },
  flag: {
    paid_late: say('Late', 'partial', IconClock),
    underpaid_accepted: say('Underpayment accepted', 'partial', IconCircleHalf2),
    simulated: say('Simulated', 'test', IconFlask),
    open: say('Still open', 'pending', IconClock),
  },
  payment: {
    detected: say('Detected', 'confirming', IconEye),
    confirmed: say('Confirmed', 'paid', IconChecks),
    replaced: say('Replaced', 'cancelled', IconArrowsExchange),
    dropped: say('Dropped', 'expired', IconArrowDown),
    orphaned: say('Orphaned', 'danger', IconUnlink),
  },
  delivery: {
    queued: say('Queued', 'new', IconAlignLeft),
    retrying: say('Retrying', 'partial', IconRefresh),
    succeeded: say('Delivered', 'paid', IconCheck),
    failed: say('Failed', 'danger', IconAlertTriangle),
    cancelled: say('Cancelled', 'cancelled', IconBan),
  },
  endpoint: {
    healthy: say('Healthy', 'paid', IconCheck),
    degraded: say('Degraded', 'partial', IconAlertTriangle),
    failing: say('Failing', 'danger', IconAlertTriangle),
    paused: say('Paused', 'new', IconPlayerPause),
    no_data: say('No data', 'new', IconCircleDashed),
  },
  system: {
    live: say('Live', 'paid', IconActivity),
    catching_up: say('Catching up', 'partial', IconRefresh),
    halted: say('Halted', 'danger', IconAlertTriangle),
    stuck: say('Stuck', 'danger', IconAlertTriangle),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, StatusLabel>>>>

export type StatusKind = keyof typeof VOCABULARY
export type StatusOf<K extends StatusKind> = keyof (typeof VOCABULARY)[K] & string

/** A waiting delivery is queued before its first attempt and retrying after it. */
export function deliveryStatus(
  status: 'pending' | 'succeeded' | 'failed' | 'cancelled',
  attempts: number,
): StatusOf<'delivery'> {
  if (status !== 'pending') return status
  return attempts === 0 ? 'queued' : 'retrying'
}
