import { createHash } from 'node:crypto'

/**
 * A UUID (version 8, RFC 9562 §5.8) derived from texts: the same texts always give the same one. Ids of resources that people create are
 * derived from their workspace and the operation, so that a client cannot choose the id of another workspace's resource.
 */
export function derivedUuid(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(parts.join('\n'), 'utf8').digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
