import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** A materialised event; `body` is the exact text that every delivery of it carries. */
export interface EventRecord {
  /** `evt_…` */
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string | null
  readonly seq: number
  readonly type: EventType
  /** UTF-8 bytes, frozen. */
  readonly body: Uint8Array
  readonly createdAt: Ms
}
