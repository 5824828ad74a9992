import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#services/admin/app-router.ts'
import { clockText, droppedText } from '#shared/contracts/rates/rate-labels.ts'
import { table } from './output.ts'

type Board = inferRouterOutputs<AppRouter>['rates']['board']

/** Further off than this, prices of sources with a time are not used. */
const CLOCK_OFF_MS = 5_000

/** Rates, sources and what waits for a person, as tables. */
export function ratesText({ ageMs, clockOffsetMs, coins, fiats, sources }: Board): string {
  const rates = [...coins, ...fiats].map((rate) => [
    rate.name,
    rate.price ?? '-',
    `${rate.sources.length} of ${rate.expected}, at least ${rate.sourcesMin}`,
    stateOf(rate),
  ])
  const uses = sources.map(({ name, expected, used, dropped }) => [
    name,
    `${used} of ${expected}`,
    droppedText(dropped),
  ])
  return [
    ageMs === null ? 'No rates have been published yet.' : `Published ${Math.round(ageMs / 1_000)} s ago.`,
    ...(clockOffsetMs !== null && Math.abs(clockOffsetMs) > CLOCK_OFF_MS
      ? [`WARNING: ${clockText(clockOffsetMs)}.`]
      : []),
    table(['RATE', 'PRICE', 'SOURCES', 'STATE'], rates, ''),
    table(['SOURCE', 'USED', 'NOT USED'], uses, 'No source has responded yet.'),
  ].join('\n')
}

function stateOf({ name, price, waiting, offPeg }: Board['coins'][number]): string {
  if (waiting !== null) {
    const since = new Date(waiting.since).toISOString().slice(0, 16)
    return `jump to ${waiting.price} since ${since}Z: if it is real, paymesh rates confirm ${name} --price ${waiting.price}`
  }
  if (offPeg) return 'off its peg'
  return price === null ? 'too few sources agree' : ''
}
