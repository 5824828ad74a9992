/**
 * A part of a process of which a test names only what is called. Anything else that is read of it throws, so that a test never passes by a
 * member that nobody thought of.
 */
export function standIn<T extends object>(members: Partial<NoInfer<T>>): T {
  return new Proxy(members as T, {
    get(target, name, receiver) {
      if (name in target || typeof name === 'symbol') return Reflect.get(target, name, receiver)
      throw new Error(`the stand-in of this test has no member ${name}`)
    },
  })
}
