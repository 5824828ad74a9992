/** The ids that were added last. */
export interface RecentIds {
  add(id: string): void
  has(id: string): boolean
}

/** Remembers the last `max` ids that were added, and no more, however many are. */
export function createRecentIds(max: number): RecentIds {
  const ids = new Set<string>()
  return {
    add(id) {
      ids.add(id)
      if (ids.size <= max) return
      for (const oldest of ids) {
        ids.delete(oldest)
        return
      }
    },
    has: (id) => ids.has(id),
  }
}
