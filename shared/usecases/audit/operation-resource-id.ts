import { createHash } from 'node:crypto'

/**
 * The id of the resource an action creates: repeating the action gives the same id. A UUID version 8 (RFC 9562 §5.8), so it does
 * not sort by time.
 */
export function operationResourceId(kind: string, workspaceId: string, opId: string): string {
  const digest = createHash('sha256').update(`${kind}:${workspaceId}:${opId}`).digest('hex')
  const variant = ((parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-')
}
