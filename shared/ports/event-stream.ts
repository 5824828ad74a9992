import type { EventType, Mode } from '#shared/domain/enumerations.ts'

/** An event was stored, or somebody had it delivered once more. Its body is read by its id. */
export interface StoredEvent {
  /** `evt_…` */
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly type: EventType
  /** A delivery that was requested for an event of before. */
  readonly resent: boolean
  /** The position in the stream right after it: opaque text of at most 400 characters. */
  readonly place: string
}

/** Receiver of stored events. No function may throw. */
export interface EventListener {
  /** In the order in which they were stored. */
  event(event: StoredEvent): void
  /** Everything up to this position was delivered to the listener. */
  reached(place: string): void
  /** The stream broke; no more events follow. */
  broken(error: unknown): void
}

/** The position is no longer in the history of the store, or never was. */
export class HistoryLost extends Error {
  override readonly name = 'HistoryLost'
}
