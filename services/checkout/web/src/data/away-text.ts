import { type Problem, waitText } from '../format/problem-text.ts'
import type { Speech } from '../locales/speech.ts'

/** Why a page has nothing newer than what it shows, or nothing at all. */
export function awayText({ say }: Speech, { status, retryAfter }: Problem): string {
  if (status === 429) return say('away.busy', { t: waitText(retryAfter ?? 60) })
  return say(navigator.onLine ? 'away.server' : 'away.offline')
}
