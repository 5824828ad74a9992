import { type FailureKind, RpcFailure } from '../../nodes/rpc-failure.ts'

/** The result, or null when the node does not have the object. Throws every other failure. */
export function unlessAbsent<T>(asked: Promise<T>): Promise<T | null> {
  return unless('absent', asked)
}

/** The result, or null when the node or its provider does not offer the call. Throws every other failure. */
export function unlessRefused<T>(asked: Promise<T>): Promise<T | null> {
  return unless('refused', asked)
}

/** Whether a call failed with this kind. */
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
