import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#services/admin/app-router.ts'

type Detail = inferRouterOutputs<AppRouter>['deliveries']['get']
type Attempt = Detail['past'][number]

/** A delivery with every attempt: when, where, how long each phase took, and what the receiver answered. */
export function deliveryText({ delivery, past }: Detail): string {
  const { eventType, eventId, endpointUrl, endpointId, status, attempt, dueAt } = delivery
  const next = status === 'pending' ? `, next attempt ${new Date(dueAt).toISOString()}` : ''
  return [
    `${eventType} ${eventId} → ${endpointUrl ?? 'a deleted endpoint'} (${endpointId})`,
    `${status} after ${attempt} attempts${next}`,
    ...past.map(attemptText),
  ].join('\n')
}

function attemptText({ number, at, statusCode, explanation, ip, responseBody, ...timing }: Attempt): string {
  const outcome = explanation ?? `The server returned ${statusCode}.`
  const answer = responseBody.trim() === '' ? '' : `\n     ${JSON.stringify(responseBody.slice(0, 500))}`
  const where = `${new Date(at).toISOString()}  ${ip ?? 'no connection'}  (${phasesText(timing)})`
  return `  ${number}. ${where}\n     ${outcome}${answer}`
}

/** Duration of each phase of a request; phases that did not happen are left out. */
function phasesText({ phases, durationMs }: Pick<Attempt, 'phases' | 'durationMs'>): string {
  const named = {
    dns: phases?.dnsMs,
    connect: phases?.connectMs,
    tls: phases?.tlsMs,
    'first byte': phases?.firstByteMs,
  }
  const reached = Object.entries(named).flatMap(([name, ms]) => (ms == null ? [] : [`${name} ${ms}`]))
  return [...reached, `total ${durationMs} ms`].join(', ')
}
