import type { Stop } from '#services/context.ts'
import { loadConfig } from '#shared/config/load.ts'
import { ConfigError } from '#shared/config/schema.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import { createShutdown } from '#shared/runtime/process/shutdown.ts'
import { openContext } from './open-context.ts'

/**
 * Runs what `start` starts, as the process of this name, until SIGTERM or SIGINT or a promise that fails without a handler. Exits with 1 and
 * a text on stderr when the configuration is faulty, a store cannot be used or `start` fails, with nothing left open.
 */
export async function runProcess(
  name: Parameters<typeof loadConfig>[0],
  start: (context: Awaited<ReturnType<typeof openContext>>['context']) => Promise<Stop>,
) {
  try {
    return await run(name, start)
  } catch (error) {
    process.stderr.write(`${name}: ${explainFailure(error)}\n`)
    process.exit(1)
  }
}

async function run(...[name, start]: Parameters<typeof runProcess>) {
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
  try {
    shutdown.add(name, await start(opened.context))
  } catch (error) {
    await opened.close()
    throw error
  }
  shutdown.add('drain', opened.drain)
  opened.ready()
  logger.info({ health: opened.health.url, pid: process.pid }, 'ready')
  return { silent: opened.silent, logger, shutdown }
}

/**
 * Text for a person whose process could not start. Errors of the configuration, of the stores and of the system, whose messages
 * state the fault, are one sentence; only an error of the program itself shows its stack.
 */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return errorText(error)
  const isOfProgram = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  if (error instanceof ConfigError) return error.message
  if (!isOfProgram) return errorText(error)
  return error.stack ?? error.message
}
