import { compare, warmUp } from './load.ts'
import type { BenchOptions } from './options.ts'
import { withRig } from './rig.ts'
import { seedInvoices } from './seed-invoices.ts'

/**
 * `GET /invoices`, the first page of 20, against bare `node:http` with one native `find` of the same page and the same
 * response. Every response must contain the newest and the last invoice of the page.
 */
export function benchListInvoices(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const invoices = await seedInvoices(rig)
    const sides = { api: rig.api, bare: await rig.startBare('list', rig.api.db) }
    const load = {
      method: 'GET',
      status: 200,
      next: (turn: number) => {
        const { apiKey = '', workspaceId = '' } = rig.keys[turn % rig.keys.length] ?? {}
        const page = (invoices.get(workspaceId) ?? []).slice(0, 20)
        // Only the baseline, which has no keys, needs the workspace.
        const headers = { authorization: `Bearer ${apiKey}`, 'x-workspace': workspaceId }
        return { path: '/api/v1/invoices?limit=20', headers, expect: [page[0] ?? '?', page.at(-1) ?? '?'] }
      },
    } as const
    await warmUp(sides, load)
    await compare('GET /invoices, pages of 20', sides, load, options)
  })
}
