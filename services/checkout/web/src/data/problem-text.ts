import { roughText } from '../format/format-values.ts'
import type { Word } from '../words/en.ts'
import type { Speech } from '../words/words.tsx'
import type { Problem } from './ask.ts'

const WORDS: Readonly<Record<string, Word>> = {
  INVALID_STATE: 'problem.state',
  RATES_UNAVAILABLE: 'problem.rates',
  NO_WALLET_FOR_ASSET: 'problem.asset',
  AMOUNT_BELOW_MINIMUM: 'problem.minimum',
  WORKSPACE_SUSPENDED: 'pick.suspended',
  WORKSPACE_RESTRICTED: 'pick.suspended',
  PLAN_LIMIT_REACHED: 'problem.plan',
  OFFLINE: 'offline',
}

/** What a problem means to a payer, and what to do about it. */
export function problemText({ say }: Speech, { code, retryAfter }: Problem, merchant: string): string {
  if (code === 'RATE_LIMITED') return say('problem.limit', { t: roughText((retryAfter ?? 60) * 1_000) })
  if (code === 'NO_WALLET_FOR_ASSET' && retryAfter !== null) {
    return say('problem.address', { t: roughText(retryAfter * 1_000) })
  }
  return say(WORDS[code] ?? 'problem.other', { m: merchant })
}

/** True when the server judged the wish: repeating the same one would end the same. */
export function isFinal({ status }: Problem): boolean {
  return status >= 400 && status < 500 && status !== 429
}
