/** The value as `--json` prints it: names in snake_case, `…At` milliseconds as ISO 8601, big integers as text. */
export function snakeCase(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(snakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name.endsWith('At') && typeof item === 'number' ? new Date(item).toISOString() : snakeCase(item),
    ]),
  )
}
