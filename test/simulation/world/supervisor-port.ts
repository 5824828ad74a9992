import type { Machine, SimProcess } from '../kernel/sim-process.ts'

/** What a process offers to the outside, by name; the outside calls it like a server. */
export type Handler = (input: never) => Promise<unknown>

/** A process while it lives. */
export interface RunningProcess {
  readonly process: SimProcess
  readonly handlers: Map<string, Handler>
}

/** Keeps processes running, and lets them die. */
export interface Supervisor {
  startAll(): void
  /** Processes of a type that can answer now. */
  alive(type: string): readonly RunningProcess[]
  all(): readonly RunningProcess[]
  /** Kills a process at this very line; it is started again after a while. */
  crash(process: SimProcess, why: string): void
  readonly crashes: number
  readonly machines: readonly Machine[]
}
