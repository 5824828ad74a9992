/** Maps in order with at most `limit` concurrent calls; the first failure rejects at once, and no further call begins. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  let next = 0
  async function work(): Promise<void> {
    try {
      for (let index = next++; index < items.length; index = next++) {
        results[index] = await map(items[index] as T)
      }
    } catch (error) {
      next = items.length
      throw error
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  return results
}
