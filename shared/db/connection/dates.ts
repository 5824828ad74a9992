import type { Ms } from '#shared/domain/invoice/model.ts'

/** A time as stored in MongoDB. */
export const toDate = (at: Ms): Date => new Date(at)
/** A time as used in code. */
export const toMs = (at: Date): Ms => at.getTime()
/** Null stays null. */
export const toDateOrNull = (at: Ms | null): Date | null => (at === null ? null : new Date(at))
/** Null stays null. */
export const toMsOrNull = (at: Date | null): Ms | null => (at === null ? null : at.getTime())
