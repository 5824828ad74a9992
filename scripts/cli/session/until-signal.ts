import { constants } from 'node:os'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
type StopSignal = (typeof SIGNALS)[number]

/** How long work may take to end after a signal. Compose and Kubernetes end a process by force after 10 s or more. */
const GRACE_MS = 5_000

/** The reason with which the signal of `untilSignal` is aborted. */
export class Interruption extends Error {
  readonly signal: StopSignal

  constructor(signal: StopSignal) {
    super(`interrupted by ${signal}`)
    this.name = 'Interruption'
    this.signal = signal
  }
}

const statusOf = (signal: StopSignal): number => 128 + constants.signals[signal]

/** What a command that was interrupted prints on stderr, and its exit status: default 128 and the number of the signal. */
export interface StopNotice {
  readonly text: string
  readonly status?: number
}

/**
 * Runs `work`, whose signal is aborted by the first SIGTERM, SIGINT or SIGHUP; `stopped` applies when work fails after that. The process exits
 * when work does not end within five seconds, and at once after a second signal. Without a handler a process that is the first of its container
 * ignores SIGTERM.
 */
export async function untilSignal(
  work: (signal: AbortSignal) => Promise<void>,
  { text, status }: StopNotice,
): Promise<void> {
  const stop = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onSignal = (signal: StopSignal): void => {
    const exit = (): never => process.exit(status ?? statusOf(signal))
    if (stop.signal.aborted) exit()
    timer = setTimeout(exit, GRACE_MS)
    stop.abort(new Interruption(signal))
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    await work(stop.signal)
  } catch (error) {
    const { reason } = stop.signal
    if (!(reason instanceof Interruption)) throw error
    process.stderr.write(`${text} (${reason.signal}).\n`)
    process.exitCode = status ?? statusOf(reason.signal)
  } finally {
    clearTimeout(timer)
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
