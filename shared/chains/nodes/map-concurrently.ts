/** Maps in order with at most `limit` calls at a time; the first failure rejects at once. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  let next = 0
  async function work(): Promise<void> {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await map(items[index] as T)
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  return results
}
