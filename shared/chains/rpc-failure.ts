import { NodeUnreliable } from '#shared/usecases/ports/scanning.ts'

/**
 * What to do about a failed call: ask again later, ask for less, or mend the configuration. `absent` is a sound answer: the
 * node does not have what was asked for.
 */
export type FailureKind = 'retry' | 'split' | 'refused' | 'absent'

/** A call to a node that gave no usable answer. The message names method and host, never the path or query of a URL. */
export class RpcFailure extends NodeUnreliable {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.kind = kind
  }
}
