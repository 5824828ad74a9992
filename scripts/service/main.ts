import { runProcess } from './run-process.ts'
import { SERVICE_NAMES, serviceOf, startableName } from './services.ts'

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
  await runProcess(name, async (context) => {
    const { start } = await serviceOf(name)
    return await start(context)
  })
}
