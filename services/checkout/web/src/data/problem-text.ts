import { roughText } from '../format/format-values.ts'
import type { MessageKey } from '../locales/en.ts'
import type { Speech } from '../locales/locale.tsx'
import type { Problem } from './ask.ts'

const WORDS: Readonly<Record<string, MessageKey>> = {
  INVALID_STATE: 'problem.state',
  RATES_UNAVAILABLE: 'problem.rates',
  NO_WALLET_FOR_ASSET: 'problem.asset',
  AMOUNT_BELOW_MINIMUM: 'problem.minimum',
  WORKSPACE_SUSPENDED: 'pick.suspended',
  WORKSPACE_RESTRICTED: 'pick.suspended',
  PLAN_LIMIT_REACHED: 'problem.plan',
  OFFLINE: 'problem.offline',
}

/** Explains a problem to a payer, and how to resolve it. */
export function problemText({ say }: Speech, { code, retryAfter, paths }: Problem, merchant: string): string {
  if (code === 'RATE_LIMITED') {
    return say(paths.includes('connection') ? 'problem.connection' : 'problem.limit', {
      t: roughText((retryAfter ?? 60) * 1_000),
    })
  }
  if (code === 'NO_WALLET_FOR_ASSET' && retryAfter !== null) {
    return say('problem.address', { t: roughText(retryAfter * 1_000) })
  }
  return say(WORDS[code] ?? 'problem.other', { m: merchant })
}

/** True when the server checked the request: repeating it would give the same result. */
export function isFinal({ status }: Problem): boolean {
  return status >= 400 && status < 500 && status !== 429
}
