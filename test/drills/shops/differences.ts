import { isDeepStrictEqual } from 'node:util'

/** What differs between a result and what is expected of it; empty when nothing does. */
export function differences(actual: Readonly<Record<string, unknown>>, expected: Readonly<Record<string, unknown>>) {
  return Object.entries(expected).flatMap(([name, value]) =>
    isDeepStrictEqual(actual[name], value)
      ? []
      : [`${name} is ${JSON.stringify(actual[name])}, not ${JSON.stringify(value)}`],
  )
}
