import { openSync, writeSync } from 'node:fs'
import { openContext } from '#scripts/service/open-context.ts'
import { startAll } from '#scripts/service/start-all.ts'
import { parseConfig } from '#shared/config/schema.ts'
import type { Environment } from './environment.ts'
import type { Runner } from './runner.ts'

/** Runs every service in this process as `paymesh serve` does, without Redis; the log goes to a file. */
export async function runInProcess(environment: Environment, logFile: string): Promise<Runner> {
  const log = openSync(logFile, 'a')
  const config = parseConfig(environment, 'serve')
  const opened = await openContext('serve', config, { write: (line) => void writeSync(log, line) })
  let stopServices: (() => Promise<void>) | null = null
  const stop = async () => {
    opened.drain()
    const stopping = stopServices
    stopServices = null
    // What did not stop cleanly is in the log.
    await stopping?.().catch(() => undefined)
    await opened.close()
  }
  try {
    stopServices = await startAll(opened.context)
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
