import { nullWhere } from './null-where.ts'
import { RpcFailure } from './rpc-failure.ts'

/** The result, or null when the node or its provider does not offer the call. Throws every other failure. */
export const unlessRefused = <T>(answer: Promise<T>): Promise<T | null> => nullWhere(answer, isRefusal)

/** Whether a node or its provider does not offer a call. */
export const isRefusal = (error: unknown): boolean => error instanceof RpcFailure && error.kind === 'refused'
