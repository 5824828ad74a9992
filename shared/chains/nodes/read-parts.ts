import { mapConcurrently } from './map-concurrently.ts'

/** The parts of a block, by their ids in its order. */
interface PartsOf {
  readonly hash: string
  readonly ids: readonly string[]
}

/**
 * Reads a block in parts, `concurrency` at a time. A further attempt at the same block on the same node goes on where the one before failed: a node
 * with a small quota gives some of them in each. Remembers the parts of one block a node, until all of them were read.
 */
export function createPartReader<T extends object>(
  concurrency: number,
): (node: object, block: PartsOf, read: (id: string) => Promise<T>) => Promise<readonly T[]> {
  const begun = new WeakMap<object, { readonly hash: string; readonly parts: Map<string, T> }>()
  return async (node, { hash, ids }, read) => {
    const before = begun.get(node)
    const parts = before?.hash === hash ? before.parts : new Map<string, T>()
    begun.set(node, { hash, parts })
    const all = await mapConcurrently(ids, concurrency, async (id) => {
      const part = parts.get(id) ?? (await read(id))
      parts.set(id, part)
      return part
    })
    begun.delete(node)
    return all
  }
}
