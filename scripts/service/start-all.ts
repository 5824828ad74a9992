import type { ServiceContext, Stop } from '#services/context.ts'
import { SERVICES, type ServiceName } from './services.ts'

/**
 * Every service in stages, in starting order: a service that receives work starts before the ones that create it and stops after
 * them. The services of a stage stop together, so that one slow client delays none of the others.
 */
const STAGES = [
  ['mailer', 'webhooks'],
  ['maintenance', 'invoices'],
  ['rates', 'scanner'],
  ['checkout', 'admin', 'api'],
] as const satisfies readonly (readonly ServiceName[])[]

/** The names that `startAll` starts, in its order. */
export const STARTED_NAMES: readonly ServiceName[] = STAGES.flat()

/**
 * Starts every service in this process on shared connections. When one fails to start, those before it are stopped and the failure
 * is passed on, with the service's name in its message. Stopping runs every step, and rejects with the first failure.
 */
export async function startAll(context: ServiceContext): Promise<Stop> {
  const stages: Stop[][] = []
  const stop: Stop = async () => {
    const failures: unknown[] = []
    for (const stage of stages.splice(0).reverse()) {
      const ended = await Promise.allSettled(stage.map((each) => each()))
      for (const one of ended) if (one.status === 'rejected') failures.push(one.reason)
    }
    for (const error of failures) context.logger.error({ err: error }, 'a service did not stop cleanly')
    if (failures.length > 0) throw failures[0]
  }
  for (const names of STAGES) {
    const stage: Stop[] = []
    stages.push(stage)
    for (const name of names) {
      try {
        const { start } = await SERVICES[name]()
        stage.push(await start({ ...context, logger: context.logger.child({ service: name }) }))
      } catch (error) {
        await stop().catch(() => undefined)
        throw error instanceof Error ? Object.assign(error, { message: `${name}: ${error.message}` }) : error
      }
    }
  }
  return stop
}
