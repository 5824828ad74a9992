import { RpcFailure } from './rpc-failure.ts'

/** The result, or null when the node or its provider does not offer the call. Throws every other failure. */
export async function unlessRefused<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

/** Whether a node or its provider does not offer a call. */
export const isRefusal = (error: unknown): boolean => error instanceof RpcFailure && error.kind === 'refused'
