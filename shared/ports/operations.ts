import type { Ms } from '#shared/domain/invoice/model.ts'

/** State of an operation id when a request presents it. */
export interface PresentedOperation {
  /** False when the id is bound to another fingerprint: another actor, procedure, target or content. */
  readonly isSame: boolean
  /** True once a request with this id succeeded. */
  readonly isDone: boolean
  /** When the id was first presented. */
  readonly at: Ms
}
