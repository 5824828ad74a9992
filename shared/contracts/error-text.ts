/** A cause of a cause of …: more than any library nests, and a bound for one that points to itself. */
const CAUSES_MAX = 12

/**
 * An error and everything that it says caused it, outermost first: its `cause`, the members of an `AggregateError` (Node tries every
 * address of a host), and theirs. At most twelve; a value that is no error ends its branch. Pure.
 */
export function errorCauses(error: unknown): readonly unknown[] {
  const found = new Set<unknown>()
  const waiting: unknown[] = [error]
  while (waiting.length > 0 && found.size < CAUSES_MAX) {
    const next = waiting.shift()
    if (next === undefined || next === null || found.has(next)) continue
    found.add(next)
    if (!(next instanceof Error)) continue
    if (next instanceof AggregateError) waiting.push(...next.errors)
    waiting.push(next.cause)
  }
  return [...found]
}

/** The code of the system or of a library, such as `ECONNREFUSED`: the first that the error or one of its causes has. Null without one. Pure. */
export function errorCode(error: unknown): string | null {
  for (const cause of errorCauses(error)) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (typeof code === 'string' && code !== '') return code
  }
  return null
}

/**
 * What an error says, with what its causes add, in one text: "fetch failed: connect ECONNREFUSED 127.0.0.1:4100". Never empty. For
 * operators: libraries quote hosts and statuses in it. An object that is no error has no words. Where a URL with secrets may be quoted, use `errorCode`. Pure.
 */
export function errorText(error: unknown): string {
  const parts: string[] = []
  for (const cause of errorCauses(error)) {
    const text = cause instanceof Error ? cause.message.trim() : typeof cause === 'object' ? '' : String(cause)
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text)
  }
  const code = errorCode(error)
  if (code !== null && /^[A-Z][A-Z0-9_]+$/.test(code) && !parts.some((part) => part.includes(code))) parts.push(code)
  if (parts.length > 0) return parts.join(': ')
  return error instanceof Error ? error.name : 'unknown error'
}
