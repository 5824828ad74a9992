/** Runs the services of a stack, in this process or in separate ones. */
export interface Runner {
  readonly metricsUrl: string
  /** Process ids by service name; null when the services share this process. */
  pids(): Readonly<Record<string, number>> | null
  /** The process id of a service. Throws for an unknown name and for one that is not running. */
  pidOf(name: string): number
  /** Sends a signal to the process of a service. Throws when the services share this process. */
  kill(name: string, signal: NodeJS.Signals): void
  /** Resolves when the service runs in a new process and is ready; starts one if the last has ended. */
  restart(name: string): Promise<void>
  stop(): Promise<void>
}
