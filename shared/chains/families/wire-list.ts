import { z } from 'zod'

/**
 * The schema of a list in a node's response. It stops at the first wrong element: `z.array` reports each of them, which takes minutes
 * for a million.
 */
export function wireList<T>(element: z.ZodType<T>) {
  return z.custom<readonly unknown[]>(Array.isArray, 'not a list').transform((items, { addIssue }): T[] => {
    const list: T[] = []
    for (const item of items) {
      const read = element.safeParse(item)
      if (!read.success) {
        addIssue(`element ${list.length}: ${read.error.issues[0]?.message}`)
        return z.NEVER
      }
      list.push(read.data)
    }
    return list
  })
}
