import { IconPlayerPause } from '@tabler/icons-react'
import { StatusBadge, ToneBadge } from '../../parts/status-badge.tsx'
import { deliveryStatus } from '../../parts/status-vocabulary.ts'

/** Facts about a delivery shown in a row. */
export interface DeliveryFacts {
  readonly status: 'pending' | 'held' | 'succeeded' | 'failed'
  readonly attempt: number
  readonly lastStatusCode: number | null
  readonly lastError: string | null
}

/** The status of a delivery as a badge. A paused one waits for its endpoint to be enabled. */
export function DeliveryBadge({ status, attempt }: Pick<DeliveryFacts, 'status' | 'attempt'>) {
  if (status === 'held') {
    return (
      <ToneBadge tone="new" icon={IconPlayerPause}>
        Paused
      </ToneBadge>
    )
  }
  return <StatusBadge of="delivery" status={deliveryStatus(status, attempt)} />
}

const WORDS: Readonly<Record<string, string>> = {
  bad_url: 'bad URL',
  blocked_address: 'not public',
  dns: 'no such host',
  tls: 'TLS',
  too_large: 'too large',
  bad_answer: 'invalid HTTP',
}

/** The last response in a word: its status, or the failure before there was one. */
export function answerLabel({
  lastStatusCode,
  lastError,
}: Pick<DeliveryFacts, 'lastStatusCode' | 'lastError'>): string {
  if (lastStatusCode !== null) return String(lastStatusCode)
  return lastError === null ? '–' : (WORDS[lastError] ?? lastError)
}
