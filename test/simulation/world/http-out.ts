import type { HttpOut, HttpPost, HttpResult } from '#shared/ports/webhook-http.ts'
import type { Surroundings } from '../processes/surroundings.ts'

const NO_PHASES = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }

/** Requests of one dispatcher to the merchants' simulated servers; nothing of it knows who is asking. */
export function createSimHttpOut({ sim, running, luck }: Surroundings): HttpOut {
  const { process } = running
  const random = luck.fork('http')
  return {
    post: (request) =>
      new Promise((resolve) => {
        if (!process.alive) return
        const { scheduler, mix, supervisor } = sim
        const dies = supervisor.crashes < mix.crashesMax && random.chance(mix.crashPerWrite * 2)
        if (dies && random.chance(0.3)) return supervisor.crash(process, 'before a request')
        sim.book.began(request, process, scheduler.now)
        const reaction = sim.book.receiverOf(request.url).react()
        const travelMs = 1 + random.next() * 15
        const deliveryId = request.headers['X-Webhook-Id'] ?? ''
        const arrives = reaction.arrives && reaction.kind !== 'fault' ? true : reaction.arrives
        const succeeds = reaction.kind === 'answer' && reaction.status < 300 && reaction.afterMs < request.timeoutMs
        if (arrives) {
          scheduler.at(travelMs, 'work', null, `arrives ${deliveryId}`, () =>
            sim.book.arrived({ request, sender: process, at: scheduler.now, succeeds }),
          )
        }
        const tookMs = Math.min(Math.max(travelMs, reaction.afterMs), request.timeoutMs)
        scheduler.at(tookMs, 'work', null, `answer to ${process.name} for ${deliveryId}`, () => {
          const result = resultOf(request, reaction, tookMs)
          scheduler.enter(process, () => {
            sim.book.answered(deliveryId, scheduler.now)
            resolve(result)
          })
        })
        if (dies) supervisor.crash(process, 'during a request')
      }),
  }
}

function resultOf(request: HttpPost, reaction: ReturnType<Reactor>, durationMs: number): HttpResult {
  const facts = { ip: '203.0.113.7', phases: NO_PHASES, durationMs }
  if (reaction.afterMs >= request.timeoutMs) return { outcome: 'failed', error: 'timeout', ...facts }
  if (reaction.kind === 'fault') return { outcome: 'failed', error: reaction.error, ...facts }
  return { outcome: 'answered', status: reaction.status, body: 'ok', ...facts }
}

type Reactor = import('./receiver.ts').Receiver['react']
