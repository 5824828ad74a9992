import { invalid } from '#shared/contracts/http/validate.ts'

const NONE: Readonly<Record<string, string>> = {}

/** The query parameters of a request target. Throws `VALIDATION_ERROR` with the name of each repeated parameter. */
export function readQuery(target: string): Readonly<Record<string, string>> {
  const start = target.indexOf('?')
  if (start === -1) return NONE
  const result = new Map<string, string>()
  const repeated = new Set<string>()
  for (const [name, value] of new URLSearchParams(target.slice(start + 1))) {
    if (result.has(name)) repeated.add(name)
    result.set(name, value)
  }
  if (repeated.size > 0) {
    throw invalid([...repeated].map((path) => ({ path, message: 'is given more than once' })))
  }
  return Object.fromEntries(result)
}
