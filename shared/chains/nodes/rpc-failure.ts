import { NodeUnreliable } from '#shared/ports/scanning.ts'

/**
 * Why a question has no answer. None of these proves anything about the chain, nor for how long a node will fail: the
 * question is put again, and its kind only decides how to wait (docs/nodes.md, "A failed question is not an answer").
 *
 * | kind | meaning | the next attempt |
 * |---|---|---|
 * | `rate` | asked too often | after a pause |
 * | `retry` | no response, busy, malformed | as it was |
 * | `late` | no response in time, of the node or of what is behind it | as it was, and smaller after that |
 * | `unclear` | an error that no list has | as it was, or smaller, or in another way |
 * | `split` | too much at once | smaller |
 * | `refused` | the method or the plan does not serve it | in another way or at another node |
 * | `pruned` | the node has dropped what is that old | at another node, or by the weaker rule |
 */
export type FailureKind = 'rate' | 'retry' | 'late' | 'unclear' | 'split' | 'refused' | 'pruned'

/**
 * What a node answered in the negative, which is an answer: it does not have the object (`absent`), or the call ran and reverted
 * (`reverted`).
 */
export type DenialKind = 'absent' | 'reverted'

/** Meaning of an error object of a response. */
export type ErrorMeaning = FailureKind | DenialKind

/** The failed call and its host. */
interface Call {
  readonly method: string
  readonly host: string
}

/** Details of a failure besides its kind. */
export interface FailureDetails {
  readonly cause?: unknown
  /** Pause requested by the node, milliseconds. */
  readonly retryAfterMs?: number | null
  /** Most blocks that the node allows in one request. */
  readonly rangeMax?: number | null
  readonly call?: Call
  /** The node gave no response at all. */
  readonly isSilent?: boolean
  /** There was no connection to the node. */
  readonly isAway?: boolean
  /** RPC method or path that failed, where `call` is not given. */
  readonly method?: string
}

/** A call to a node without a usable response. The message names method and host, never the path or query of a URL. */
export class RpcFailure extends NodeUnreliable {
  readonly kind: FailureKind
  readonly retryAfterMs: number | null
  readonly rangeMax: number | null
  override readonly call: Call | null
  override readonly isSilent: boolean
  override readonly isAway: boolean
  override readonly isGone: boolean
  /** RPC method or path that failed, as the node spells it; null where no single call failed. */
  readonly method: string | null

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    const { cause, retryAfterMs, rangeMax, call, method, isSilent, isAway } = details
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.retryAfterMs = retryAfterMs ?? null
    this.rangeMax = rangeMax ?? null
    this.call = call ?? null
    this.isSilent = isSilent ?? false
    this.isAway = isAway ?? false
    this.isGone = kind === 'pruned'
    this.method = call?.method ?? method ?? null
  }
}

/** An answer in the negative. Where nobody expects it, it ends the step like a failure. */
export class RpcDenial extends NodeUnreliable {
  readonly kind: DenialKind
  override readonly call: Call

  constructor(kind: DenialKind, message: string, call: Call) {
    super(message)
    this.kind = kind
    this.call = call
  }
}

/** Whether a node answered in the negative. */
export const isDenied = (error: unknown): boolean => error instanceof RpcDenial

const DENIALS: ReadonlySet<ErrorMeaning> = new Set<DenialKind>(['absent', 'reverted'])

/** Whether a meaning is an answer. */
export const isDenial = (meaning: ErrorMeaning): meaning is DenialKind => DENIALS.has(meaning)

/** Statuses of a response without a readable body that a repetition would not change (RFC 9110). */
const REFUSING_STATUSES = new Set([401, 402, 403, 404, 405, 410, 501])

/** Statuses of a response that came too late, whatever its body says. */
export const LATE_STATUSES: ReadonlySet<number> = new Set([408, 504])

/** What the status of a response says when its body says nothing. */
export function failureOfStatus(status: number): FailureKind {
  if (status === 429) return 'rate'
  if (status === 413 || status === 414) return 'split'
  if (LATE_STATUSES.has(status)) return 'late'
  return REFUSING_STATUSES.has(status) ? 'refused' : 'retry'
}
