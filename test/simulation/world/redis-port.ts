import type { QueueName } from '#shared/ports/runtime.ts'
import type { SimProcess } from '../kernel/sim-process.ts'

/** A worker of a queue in one process, as BullMQ would feed it. */
export interface SimWorker {
  readonly process: SimProcess
  readonly queue: QueueName
  readonly concurrency: number
  handle(id: string): Promise<void>
}

/**
 * Redis as far as the product notices: queues of wake-ups with BullMQ's deduplication, epochs, and marks of running
 * operations. It may be away, slow, wiped, deliver twice, late or never.
 */
export interface SimRedis {
  up: boolean
  /** What the epoch store keeps: `key:<id>` and `workspace:<id>`. */
  readonly epochs: Map<string, number>
  /** Idempotent operations that run, with their owner and end. */
  readonly markers: Map<string, { readonly owner: string; readonly until: number }>
  notify(process: SimProcess, queue: QueueName, id: string): void
  register(worker: SimWorker): void
  wipe(): void
  setUp(up: boolean): void
  /** What `RedisConnections` tells a process. */
  isHealthy(): boolean
  unhealthyForMs(): number
  /** A process is gone: its jobs stall and come back. */
  forget(process: SimProcess): void
}
