import { invalid } from '#shared/contracts/http/validate.ts'

/** The place of a row in a list that is ordered by time and id. */
export interface ListedPlace {
  readonly at: number
  readonly id: string
}

/** A cursor for the list to continue after this place. */
export function placeCursor({ at, id }: ListedPlace): string {
  return Buffer.from(`${at}:${id}`, 'utf8').toString('base64url')
}

/** The place of a cursor; null without one. Throws `VALIDATION_ERROR` for a text that is no cursor. */
export function placeOf(cursor: string | null | undefined): ListedPlace | null {
  if (!cursor) return null
  const [, at, id] = /^(\d{1,15}):(.{1,300})$/s.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? []
  if (at !== undefined && id !== undefined) return { at: Number(at), id }
  throw invalid([{ path: 'cursor', message: 'is not a valid cursor for this list' }])
}
