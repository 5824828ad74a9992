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

/**
 * The operation ids that clients chose, each bound to its first fingerprint. The register makes one request
 * out of repeated ones; the id of the audit row guards that an action and its row are stored once.
 */
export interface OperationRegister {
  /**
   * Binds an id that is free and reports what it is bound to otherwise. `runner` names this request: only the request that bound the id
   * can release it, and not once another request with the same fingerprint has arrived.
   */
  begin(
    id: string,
    bound: { readonly fingerprint: string; readonly runner: string; readonly at: Ms },
  ): Promise<PresentedOperation>
  /** Notes that the operation succeeded. */
  finish(id: string): Promise<void>
  /** Frees an id whose only request was refused, so that a person may correct the input and send it again. */
  release(id: string, runner: string): Promise<void>
}
