/** A machine of the installation with its own clock. */
export interface Machine {
  readonly name: string
  /** How far its wall clock is from true time, milliseconds. */
  skewMs: number
}

/** One run of one process: from its start to its death. A restart is another one with fresh memory. */
export interface SimProcess {
  /** `<type>#<instance>.<start>`, as the trace shows it. */
  readonly name: string
  readonly type: string
  readonly machine: Machine
  readonly bootAt: number
  alive: boolean
  /** Stopped by SIGSTOP: what would happen in it waits. */
  frozen: boolean
  readonly waiting: (() => void)[]
}
