import type { Logger } from '#shared/ports/runtime.ts'
import type { Shutdown } from '#shared/runtime/process/shutdown.ts'
import { runProcess } from './run-process.ts'
import { startAll } from './start-all.ts'

/**
 * `paymesh serve`: runs every service in this process, with wake-ups in memory and without Redis, until SIGTERM or SIGINT. Exits with
 * 1 and a text on stderr when it cannot start, and when a loop makes no progress or a promise fails without a handler: its
 * supervisor starts it again, and the sweeps find the work in the store.
 */
export async function runServe(): Promise<never> {
  endWhenSilent(await runProcess('serve', startAll))
  // The shutdown ends the process.
  return await new Promise<never>(() => undefined)
}

const POLL_EVERY_MS = 5_000

interface Monitor {
  /** Loops without progress, with the reason in words. */
  silent(): Readonly<Record<string, string>>
  readonly logger: Logger
  readonly shutdown: Pick<Shutdown, 'run'>
  /** Receives one line for a person. Default: stderr. */
  readonly say?: (line: string) => void
  readonly pollEveryMs?: number
}

/**
 * Ends the whole process with 1 when one of its loops makes no progress: a loop that died silently would stop one part of the product
 * while the rest looks healthy, and a supervisor on one machine restarts only processes that end. Returns a function that ends the watch.
 */
export function endWhenSilent({ silent, logger, shutdown, say = toStderr, pollEveryMs = POLL_EVERY_MS }: Monitor) {
  const timer = setInterval(() => {
    const loops = silent()
    if (Object.keys(loops).length === 0) return
    clearInterval(timer)
    logger.error({ loops }, 'loops make no progress; this process ends, to be started again')
    const reasons = Object.entries(loops).map(([name, reason]) => `${name}: ${reason}`)
    say(`serve: ending, because loops make no progress (${reasons.join(', ')})\n`)
    void shutdown.run('silent loops', { failed: true })
  }, pollEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}

const toStderr = (line: string): void => void process.stderr.write(line)
