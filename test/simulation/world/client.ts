import type { Prng } from '../kernel/prng.ts'
import type { SimRequest, SimResponse } from '../processes/api.ts'
import type { Sim } from './sim.ts'
import type { Handler } from './supervisor-port.ts'

/** No answer came: nobody knows what happened. */
export type LostAnswer = 'lost'

const CLIENT_TIMEOUT_MS = 30_000

/** Sends one request through a load balancer; `lost` when no answer comes within 30 s or nobody listens. */
export function sendRequest(sim: Sim, request: SimRequest, luck: Prng): Promise<SimResponse | LostAnswer> {
  return callProcess<SimResponse>(sim, 'api', 'http', request, luck, `${request.method} ${request.path}`)
}

/** Calls a handler of any process of a type from the outside; errors that the handler throws count as an answer. */
export function callProcess<T>(
  sim: Sim,
  type: string,
  name: string,
  input: unknown,
  luck: Prng,
  what: string,
): Promise<T | LostAnswer> {
  const { scheduler } = sim
  return new Promise((resolve) => {
    let settled = false
    const settle = (outcome: T | LostAnswer): void => {
      if (settled) return
      settled = true
      giveUp()
      resolve(outcome)
    }
    const giveUp = scheduler.at(CLIENT_TIMEOUT_MS, 'world', null, `no answer to ${what}`, () => settle('lost'))
    scheduler.at(1 + luck.next() * 8, 'work', null, `request ${what}`, () => {
      sim.touch()
      const ready = sim.supervisor.alive(type).filter(({ handlers }) => handlers.has(name))
      if (ready.length === 0) return void scheduler.at(5, 'world', null, `refused ${what}`, () => settle('lost'))
      const { process, handlers } = luck.pick(ready)
      const handler = handlers.get(name) as Handler
      const answer = (outcome: T | LostAnswer) => (): void => {
        scheduler.at(1 + luck.next() * 8, 'work', null, `response ${what}`, () => {
          sim.touch()
          settle(outcome)
        })
      }
      scheduler.enter(process, () => {
        handler(input as never).then(
          (outcome) => answer(outcome as T)(),
          (error: unknown) => {
            sim.trace.add(`  refused: ${error instanceof Error ? error.message : String(error)}`)
            answer('lost')()
          },
        )
      })
    })
  })
}
