import { unsupported } from './bson-values.ts'

/** The object, but asking for a member that it lacks throws an error with its name instead of answering undefined. */
export function refuseOthers<T extends object>(name: string, object: T): T {
  return new Proxy(object, {
    get(target, member, receiver) {
      // Awaiting and printing ask for members that nothing has.
      if (member in target || typeof member === 'symbol' || member === 'then' || member === 'toJSON') {
        return Reflect.get(target, member, receiver)
      }
      throw unsupported(`${name}.${member}`)
    },
  })
}

/** Throws for an option that is not among those implemented. */
export function refuseOtherOptions(method: string, options: object | undefined, known: readonly string[]): void {
  for (const option in options) if (!known.includes(option)) throw unsupported(`option ${option} of ${method}`)
}
