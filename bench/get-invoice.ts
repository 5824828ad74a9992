import { compare, type Load, warmUp } from './load.ts'
import type { BenchOptions } from './options.ts'
import { type Rig, withRig } from './rig.ts'
import { seedInvoices } from './seed-invoices.ts'

/**
 * `GET /invoices/{id}` against bare `node:http` with one native `findOne` of the same document and the same response.
 * Every response must contain the requested id.
 */
export function benchGetInvoice(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const load = getLoad(rig, await seedInvoices(rig))
    const sides = { api: rig.api, bare: await rig.startBare('get', rig.api.db) }
    await warmUp(sides, load)
    await compare('GET /invoices/{id}', sides, load, options)
  })
}

/** Reads of invoices by all keys in turn; `ids` by workspace. */
export function getLoad({ keys }: Pick<Rig, 'keys'>, ids: ReadonlyMap<string, readonly string[]>): Load {
  return {
    method: 'GET',
    status: 200,
    next: (turn) => {
      const { apiKey = '', workspaceId = '' } = keys[turn % keys.length] ?? {}
      const own = ids.get(workspaceId) ?? []
      const id = own[Math.floor(turn / keys.length) % own.length] ?? ''
      return { path: `/api/v1/invoices/${id}`, headers: { authorization: `Bearer ${apiKey}` }, expect: [id] }
    },
  }
}
