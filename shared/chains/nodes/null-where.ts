/** What a promise resolves to; null where it fails in this way. Throws every other error. */
export async function nullWhere<T>(answer: Promise<T>, isNone: (error: unknown) => boolean): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (isNone(error)) return null
    throw error
  }
}
