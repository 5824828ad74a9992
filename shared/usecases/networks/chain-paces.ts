import type { ChainPaces } from '#shared/ports/chain-catalog.ts'
import type { ChainMeasurements } from '#shared/ports/cursors.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** The measured paces of one process. */
export interface LivePaces extends ChainPaces {
  /** Reads what scanners have stored. Never throws: without an answer the last one stays. */
  refresh(): Promise<void>
}

/** Paces as scanners store them with their cursors; empty until the first `refresh`. */
export function createChainPaces({ cursors, logger }: Uses<'logger'> & { readonly cursors: CursorList }): LivePaces {
  let known: ReadonlyMap<string, ChainMeasurements> = new Map()
  return {
    of: (network, mode) => known.get(`${mode}:${network}`) ?? null,
    async refresh() {
      try {
        const found = await cursors.list()
        known = new Map(found.flatMap(({ id, measured }) => (measured === undefined ? [] : [[id, measured] as const])))
      } catch (error) {
        logger.warn({ err: error }, 'the paces of chains could not be read')
      }
    },
  }
}

type CursorList = Pick<Uses<'cursors'>['cursors'], 'list'>
