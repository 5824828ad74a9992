import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ListPlace } from '#shared/ports/delivery-search.ts'

/** The cursor after a row of a list in the order of time and id. Opaque to pages, but not secret: every page checks its owner. */
export function cursorAt({ createdAt, id }: ListPlace): string {
  return Buffer.from(`${createdAt}:${id}`, 'utf8').toString('base64url')
}

/** The position in a cursor; null without one. Throws `VALIDATION_ERROR` for anything that no list returned. */
export function placeOf(cursor: string | undefined): ListPlace | null {
  if (cursor === undefined) return null
  const found = /^(\d{1,15}):([\w-]{1,80})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))
  const [, createdAt, id] = found ?? []
  if (createdAt === undefined || id === undefined) {
    throw new PaymeshError('VALIDATION_ERROR', {
      details: [{ path: 'cursor', message: 'is not a valid cursor for this list' }],
    })
  }
  return { createdAt: Number(createdAt), id }
}
