import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { Mode } from '#shared/domain/enumerations.ts'

const ID_BYTES = 16
const MAC_BYTES = 12
const FORM = /^[A-Za-z0-9_-]{38}$/

/** The list a cursor belongs to; it is refused everywhere else. */
export interface CursorScope {
  readonly list: string
  readonly workspaceId: string
  readonly mode: Mode
  /** The list's filters by parameter; texts and numbers, always named in the same order. */
  readonly filters?: Readonly<Record<string, string | number | undefined>>
}

/** Opaque page positions. */
export type ListCursor = ReturnType<typeof createListCursor>

/** Cursors under a secret of the installation, so that they stay valid across restarts and on every node. */
export function createListCursor(secret: Uint8Array) {
  const key = createHmac('sha256', secret).update('paymesh list cursor').digest()
  const macOf = ({ list, workspaceId, mode, filters = {} }: CursorScope, id: Buffer): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([list, workspaceId, mode, filters]))
      .update(id)
      .digest()
      .subarray(0, MAC_BYTES)
  return {
    /** The position after a resource: 38 characters of base64url, its id and a MAC over id and scope. */
    encode(scope: CursorScope, lastId: string): string {
      const id = Buffer.from(lastId.replaceAll('-', ''), 'hex')
      return Buffer.concat([id, macOf(scope, id)]).toString('base64url')
    },

    /** The id in a cursor. Throws `VALIDATION_ERROR` at `cursor` when it is malformed or was made for another list, workspace, mode or filter. */
    decode(scope: CursorScope, cursor: string): string {
      const bytes = FORM.test(cursor) ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0)
      const id = bytes.subarray(0, ID_BYTES)
      if (bytes.length !== ID_BYTES + MAC_BYTES || !timingSafeEqual(bytes.subarray(ID_BYTES), macOf(scope, id))) {
        throw invalid([{ path: 'cursor', message: 'is not a valid cursor for this list' }])
      }
      const hex = id.toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
    },
  }
}

/**
 * A page of a list by id, newest or oldest first. `read` gets a limit of one row more, which shows without a second query whether there is a
 * further page. Throws `VALIDATION_ERROR` at `cursor`, as `decode`.
 */
export async function readPage<Row extends { readonly id: string }>(
  { listCursor }: { readonly listCursor: ListCursor },
  scope: CursorScope,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  read: (page: { readonly limit: number; readonly beforeId: string | null }) => Promise<readonly Row[]>,
): Promise<{
  readonly page: readonly Row[]
  readonly meta: { readonly next_cursor: string | null; readonly has_more: boolean }
}> {
  const beforeId = cursor === undefined ? null : listCursor.decode(scope, cursor)
  const rows = await read({ limit: limit + 1, beforeId })
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  const next = last === undefined ? null : listCursor.encode(scope, last.id)
  return { page, meta: { next_cursor: next, has_more: next !== null } }
}
