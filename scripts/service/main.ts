import { loadConfig } from '#shared/config/load.ts'
import { createShutdown } from '#shared/runtime/process/shutdown.ts'
import { explainFailure } from './explain-failure.ts'
import { openContext } from './open-context.ts'
import { SERVICE_NAMES, type ServiceName, serviceOf, startableName } from './services.ts'

/**
 * Runs one service until SIGTERM or SIGINT; this is the process of one Procfile line, here and in production.
 * Exits with 1 and a text on stderr when the configuration is faulty or a store cannot be used.
 */
export async function runService(args: readonly string[]): Promise<void> {
  const name = startableName(args[0])
  if (name === undefined) {
    process.stderr.write(`usage: node scripts/service.mjs ${SERVICE_NAMES.join('|')}\n`)
    process.exit(2)
  }
  try {
    await serve(name)
  } catch (error) {
    process.stderr.write(`${name}: ${explainFailure(error)}\n`)
    process.exit(1)
  }
}

async function serve(name: ServiceName): Promise<void> {
  const { config, unused } = loadConfig(name)
  const opened = await openContext(name, config)
  const { logger } = opened.context
  if (unused.length > 0) logger.warn({ settings: unused }, 'this process has secrets that it does not use')
  const shutdown = createShutdown({ logger })
  shutdown.add('connections', opened.close)
  process.on('unhandledRejection', (error) => {
    logger.error({ err: error }, 'unhandled promise rejection')
    void shutdown.run('unhandledRejection', { failed: true })
  })
  const { start } = await serviceOf(name)
  shutdown.add(name, await start(opened.context))
  shutdown.add('drain', opened.drain)
  opened.ready()
  logger.info({ health: opened.health.url, pid: process.pid }, 'ready')
}
