import { type FailureKind, RpcFailure } from '../../nodes/rpc-failure.ts'

/** The answer, or null when the node does not have the thing. Throws every other failure. */
export function unlessAbsent<T>(asked: Promise<T>): Promise<T | null> {
  return unless('absent', asked)
}

/** The answer, or null when the node or its provider does not offer the call. Throws every other failure. */
export function unlessRefused<T>(asked: Promise<T>): Promise<T | null> {
  return unless('refused', asked)
}

/** Whether a call failed in this way. */
export function isFailure(error: unknown, kind: FailureKind): boolean {
  return error instanceof RpcFailure && error.kind === kind
}

async function unless<T>(kind: FailureKind, asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (isFailure(error, kind)) return null
    throw error
  }
}
