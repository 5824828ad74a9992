/** An object with the properties of `reads`; each read of a property calls its function. */
export function lazily<T extends object>(reads: { readonly [K in keyof T]: () => T[K] }): Readonly<T> {
  const target = {}
  for (const [name, get] of Object.entries(reads))
    Object.defineProperty(target, name, { get: get as () => unknown, enumerable: true })
  return target as T
}
