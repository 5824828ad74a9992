/** The deepest input of a procedure, the confirmations of an asset by value, has 6 levels. */
const DEPTH_MAX = 10
/** A wallet of 10,000 addresses is proved by as many objects with two texts each. */
const VALUES_MAX = 50_000

/**
 * Whether a parsed JSON value has at most 10 levels and 50,000 values and names no `__proto__`. Reads no more of a larger one than that,
 * and does not recurse: nothing may look into an input before this does.
 */
export function isBounded(input: unknown): boolean {
  const rest: { readonly value: unknown; readonly depth: number }[] = [{ value: input, depth: 1 }]
  let values = 1
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, depth } = next
    if (typeof value !== 'object' || value === null) continue
    if (depth > DEPTH_MAX || Object.hasOwn(value, '__proto__')) return false
    const inner: unknown[] = Object.values(value)
    values += inner.length
    if (values > VALUES_MAX) return false
    for (const one of inner) rest.push({ value: one, depth: depth + 1 })
  }
  return true
}
