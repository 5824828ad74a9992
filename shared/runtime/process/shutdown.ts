import { within } from '#shared/contracts/within.ts'
import type { Logger } from '#shared/ports/runtime.ts'

/** A step of the shutdown. */
type StopStep = () => Promise<void> | void

export type Shutdown = ReturnType<typeof createShutdown>

export interface ShutdownOptions {
  readonly logger: Logger
  /** For all steps together. Default 12 s: above the 10 s of a webhook in flight. */
  readonly deadlineMs?: number
  /** Called when all steps ended (0), or when a step failed or the deadline passed (1). Default `process.exit`. */
  readonly exit?: (code: number) => void
  /** Source of SIGTERM and SIGINT. Default `process`. */
  readonly signals?: Pick<NodeJS.EventEmitter, 'on' | 'off'>
}

/**
 * Shuts a process down in order. The first SIGTERM or SIGINT runs the steps; a second signal exits at once with 130.
 * A step that fails is logged and the next one runs; past the deadline the process exits without waiting.
 */
export function createShutdown(options: ShutdownOptions) {
  const { logger, deadlineMs = 12_000, exit = (code) => process.exit(code), signals = process } = options
  const steps: { readonly name: string; readonly stop: StopStep }[] = []
  let running: Promise<void> | undefined

  async function stopAll(): Promise<boolean> {
    let clean = true
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      try {
        await step.stop()
      } catch (error) {
        clean = false
        logger.error({ step: step.name, error }, 'a shutdown step failed')
      }
    }
    return clean
  }

  async function runOnce(reason: string, failed: boolean): Promise<void> {
    logger.info({ reason }, 'stopping')
    const clean = await within(stopAll(), deadlineMs)
    if (clean === null) logger.error({ deadlineMs }, 'shutdown took too long; exiting now')
    signals.off('SIGTERM', onSignal)
    signals.off('SIGINT', onSignal)
    exit(clean && !failed ? 0 : 1)
  }

  function run(reason: string, { failed } = { failed: false }): Promise<void> {
    running ??= runOnce(reason, failed)
    return running
  }

  function onSignal(signal: string): void {
    if (running !== undefined) exit(130)
    else void run(signal)
  }

  signals.on('SIGTERM', onSignal)
  signals.on('SIGINT', onSignal)
  return {
    /** Registers a step. Steps run in the reverse order of their registration, one after the other. */
    add: (name: string, stop: StopStep): void => void steps.push({ name, stop }),
    /**
     * Runs the steps once; later calls return the same promise. Resolves when the last step ended or the deadline passed. With
     * `failed` the process exits with 1, so that a supervisor that restarts failed processes starts it again.
     */
    run,
  }
}
