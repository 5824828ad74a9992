/** Of a full map this share is evicted at once, so that a flood sorts the map seldom. */
const EVICTED_SHARE = 0.1

/**
 * Bounds a map of buckets, each stored as the time at which it is full again. Once `max` are held, full ones are removed, which changes
 * nothing; if all are in use, the tenth nearest to full. They lose least: a flood from new sources, which have used one token each, evicts
 * other new sources and never a bucket that somebody drained.
 */
export function makeRoom(fullAt: Map<string, number>, max: number, at: number): void {
  if (fullAt.size < max) return
  for (const [key, time] of fullAt) if (time <= at) fullAt.delete(key)
  if (fullAt.size < max) return
  const nearest = [...fullAt].sort(([, a], [, b]) => a - b).slice(0, Math.ceil(max * EVICTED_SHARE))
  for (const [key] of nearest) fullAt.delete(key)
}
