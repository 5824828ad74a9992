import { IconPlayerPause } from '@tabler/icons-react'
import { StatusBadge, ToneBadge } from '../../parts/status-badge.tsx'
import { deliveryStatus } from '../../parts/status-vocabulary.ts'

/** What a row says of a delivery. */
export interface DeliveryFacts {
  readonly status: 'pending' | 'held' | 'succeeded' | 'failed'
  readonly attempt: number
  readonly lastStatusCode: number | null
  readonly lastError: string | null
}

/** The state of a delivery as a badge. A held one waits for its endpoint to be enabled. */
export function DeliveryBadge({ status, attempt }: Pick<DeliveryFacts, 'status' | 'attempt'>) {
  if (status === 'held') {
    return (
      <ToneBadge tone="new" icon={IconPlayerPause}>
        Held
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
  bad_answer: 'no HTTP',
}

/** The last answer in a word: its status, or what went wrong before there was one. */
export function answerWord({ lastStatusCode, lastError }: Pick<DeliveryFacts, 'lastStatusCode' | 'lastError'>): string {
  if (lastStatusCode !== null) return String(lastStatusCode)
  return lastError === null ? '–' : (WORDS[lastError] ?? lastError)
}

/** The host of an endpoint, short enough for a row. */
export function hostOf(url: string | null): string {
  if (url === null) return 'endpoint deleted'
  return URL.canParse(url) ? new URL(url).host : url
}
