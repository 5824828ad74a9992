import type { Repositories } from './contract-stage.ts'

/** One promise of the store that the product relies on: asked of an empty database, it gives exactly this. */
export interface ContractCase {
  readonly name: string
  query(on: Repositories): Promise<unknown>
  readonly gives: unknown
}
