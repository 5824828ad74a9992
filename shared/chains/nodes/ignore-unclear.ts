import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { nullWhere } from './null-where.ts'

/** The response of a call; null when the node gave none that is clear. Errors that are not a node's fault are passed on. */
export const ignoreUnclear = <T>(answer: Promise<T>): Promise<T | null> =>
  nullWhere(answer, (error) => error instanceof NodeUnreliable)
