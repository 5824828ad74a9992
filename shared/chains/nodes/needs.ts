import type { Shortcoming } from '#shared/ports/node-states.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'

/** One thing that the work requests of a node, requested once to see whether the node serves it. */
export interface Need extends Pick<Shortcoming, 'need' | 'consequence'> {
  /** Throws `NodeUnreliable` when it is not served. */
  request(): Promise<unknown>
}

/** Requests each need, one after the other, and returns those that were not served, with the node's words. */
export async function unserved(needs: readonly Need[]): Promise<readonly Shortcoming[]> {
  const found: Shortcoming[] = []
  for (const { need, consequence, request } of needs) {
    try {
      await request()
    } catch (error) {
      if (!(error instanceof NodeUnreliable)) throw error
      found.push({ need, consequence, words: error.message })
    }
  }
  return found
}

/** Throws when a node has nothing where it should have something. */
export function required<T>(found: T | null, what: string): T {
  if (found === null) throw new NodeUnreliable(`the node has no ${what}`)
  return found
}
