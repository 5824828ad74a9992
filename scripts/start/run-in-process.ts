import { openSync, writeSync } from 'node:fs'
import { openContext } from '#scripts/service/open-context.ts'
import { SERVICE_NAMES, SERVICES } from '#scripts/service/services.ts'
import { parseConfig } from '#shared/config/schema.ts'
import type { Environment } from './environment.ts'
import type { Runner } from './runner.ts'

/** Runs every service in this process on shared connections; the log goes to a file. */
export async function runInProcess(environment: Environment, logFile: string): Promise<Runner> {
  const log = openSync(logFile, 'a')
  const opened = await openContext('paymesh', parseConfig(environment), { write: (line) => void writeSync(log, line) })
  const { context } = opened
  const stops: (() => Promise<void>)[] = [opened.close]
  const stop = async () => {
    opened.drain()
    for (const step of stops.splice(0).reverse()) {
      await step().catch((error: unknown) => context.logger.error({ error }, 'a service did not stop cleanly'))
    }
  }
  try {
    for (const name of SERVICE_NAMES) {
      const { start } = await SERVICES[name]()
      stops.push(await start({ ...context, logger: context.logger.child({ service: name }) }))
    }
  } catch (error) {
    await stop()
    throw error
  }
  opened.ready()
  const alone = () => {
    throw new Error('the services share one process; start with --processes to have one each')
  }
  return {
    metricsUrl: `${opened.health.url}/metrics`,
    pids: () => null,
    pidOf: alone,
    kill: alone,
    restart: async () => alone(),
    stop,
  }
}
