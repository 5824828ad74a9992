/** Items in lists of `size`, the last one shorter, which several readers may consume in turn: never are all held at once. */
export async function* inChunks<T>(
  items: Iterable<T> | AsyncIterable<T>,
  size: number,
): AsyncGenerator<readonly T[], void, undefined> {
  let chunk: T[] = []
  for await (const item of items) {
    chunk.push(item)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
