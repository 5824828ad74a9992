import { loadConfig } from '#shared/config/load.ts'
import { createShutdown } from '#shared/runtime/process/shutdown.ts'
import { endWhenSilent } from './end-when-silent.ts'
import { explainFailure } from './explain-failure.ts'
import { openContext } from './open-context.ts'
import { startAll } from './start-all.ts'

/**
 * `paymesh serve`: runs every service in this process, with wake-ups in memory and without Redis, until SIGTERM or SIGINT. Exits with
 * 1 and a text on stderr when it cannot start, and when a loop makes no progress or a promise fails without a handler: its
 * supervisor starts it again, and the sweeps find the work in the store.
 */
export async function runServe(): Promise<never> {
  try {
    await serve()
  } catch (error) {
    process.stderr.write(`serve: ${explainFailure(error)}\n`)
    process.exit(1)
  }
  // The shutdown ends the process.
  return await new Promise<never>(() => undefined)
}

async function serve(): Promise<void> {
  const { config, unused } = loadConfig('serve')
  const opened = await openContext('serve', config)
  const { logger } = opened.context
  if (unused.length > 0) logger.warn({ settings: unused }, 'this process has secrets that it does not use')
  const shutdown = createShutdown({ logger })
  shutdown.add('connections', opened.close)
  process.on('unhandledRejection', (error) => {
    logger.error({ err: error }, 'unhandled promise rejection')
    void shutdown.run('unhandledRejection', { failed: true })
  })
  try {
    shutdown.add('services', await startAll(opened.context))
  } catch (error) {
    await opened.close()
    throw error
  }
  shutdown.add('drain', opened.drain)
  endWhenSilent({ silent: opened.silent, logger, shutdown })
  opened.ready()
  logger.info({ health: opened.health.url, pid: process.pid }, 'ready')
}
