import { compare, warmUp } from './load.ts'
import type { BenchOptions } from './options.ts'
import { withRig } from './rig.ts'
import { seedInvoices } from './seed-invoices.ts'

/**
 * `GET /invoices/{id}` against bare `node:http` with one native `findOne` of the same document and the same response.
 * Every response must contain the requested id.
 */
export function benchGetInvoice(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const invoices = await seedInvoices(rig)
    const sides = { api: rig.api, bare: await rig.startBare('get', rig.api.db) }
    const load = {
      method: 'GET',
      status: 200,
      next: (turn: number) => {
        const { apiKey = '', workspaceId = '' } = rig.keys[turn % rig.keys.length] ?? {}
        const ids = invoices.get(workspaceId) ?? []
        const id = ids[Math.floor(turn / rig.keys.length) % ids.length] ?? ''
        return { path: `/api/v1/invoices/${id}`, headers: { authorization: `Bearer ${apiKey}` }, expect: [id] }
      },
    } as const
    await warmUp(sides, load)
    await compare('GET /invoices/{id}', sides, load, options)
  })
}
