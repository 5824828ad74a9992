import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'

/** When a round of the relay read what its claims rest on. */
export interface RoundTimes {
  /** The store's clock when it answered the read of the entries. */
  readonly storeNow: Ms
  /** Stopwatch reading before the entries were read. */
  readonly begunAt: number
  /** Stopwatch reading before the endpoints were read, which was after the entries had been read. */
  readonly endpointsReadAt: number
}

/** The new deliveries of one round, some of them claimed for a first attempt by this process. */
export interface ClaimedInsert {
  /** To insert, in the order given; a claimed row carries a lease token. Each claimed row holds a free place of its endpoint. */
  readonly rows: readonly Delivery[]
  /**
   * Sends claimed rows that are in `ours`, and gives back the places of the others. Call it once, when events and rows are durable; it
   * returns before the first request ends and never throws. A row whose endpoint has to be read again, or for which it is too
   * late, is sent later or released.
   */
  send(ours: ReadonlySet<string>, events: ReadonlyMap<string, EventRecord>): void
  /** Instead of `send`, when the insert failed: gives every place back. Rows that were inserted nevertheless leave when their lease ends. */
  abandon(): void
}

/** The first attempts of one process; the relay of the same process hands it what it inserts. */
export interface FirstAttempts {
  /** Whether this process may claim nothing now: a restore is not confirmed, or others should send because its core is full. */
  isPaused(): Promise<boolean>
  /** Claims those of these pending rows whose endpoint is enabled, fast, has a free place here and no older row waiting. */
  claim(rows: readonly Delivery[], endpoints: readonly WebhookEndpoint[], times: RoundTimes): ClaimedInsert
  /** Called when pending rows of the endpoint were inserted: this process sends them, or another one that is woken. */
  wake(endpointId: string): void
}
