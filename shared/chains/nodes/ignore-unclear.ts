import { NodeUnreliable } from '#shared/ports/scanning.ts'

/** The response of a call; null when the node gave none that is clear. Errors that are not a node's fault are passed on. */
export async function ignoreUnclear<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NodeUnreliable) return null
    throw error
  }
}
