import { meaningOf, type Problem, waitText } from '../format/problem-text.ts'
import type { Speech } from '../locales/speech.ts'

/** Why a page has nothing newer than what it shows, or nothing at all. */
export function awayText({ say }: Speech, problem: Problem): string {
  const { retryAfter } = problem
  const meaning = meaningOf(problem)
  if (meaning === 'unknown') return say('removed.title')
  if (meaning === 'busy') return say('away.busy', { t: waitText(retryAfter ?? 60) })
  return say(navigator.onLine ? 'away.server' : 'away.offline')
}
