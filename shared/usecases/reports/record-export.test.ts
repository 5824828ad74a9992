import { expect, it } from 'vitest'
import type { AuditRecord } from '#shared/ports/audit.ts'
import { recordedExport } from './record-export.ts'

const request = {
  ...{ requestId: 'req_1', actor: 'user:a@example.com', workspaceId: 'w', mode: 'test' as const },
  ...{ what: 'invoices', filters: { status: 'paid' } },
}

function stage() {
  const rows: AuditRecord[] = []
  const exports = { record: async (row: AuditRecord) => void rows.push(row) }
  return { rows, deps: { clock: { now: () => 7 }, exports } }
}

async function* parts(onRows: (count: number) => void, failAfter = 9): AsyncGenerator<string> {
  yield 'heading'
  for (const part of [1, 2, 3]) {
    if (part > failAfter) throw new Error('the store is away')
    onRows(10)
    yield `part ${part}`
  }
}

it('records the filters before the first part, and the number of rows behind the last', async () => {
  const { rows, deps } = stage()
  const seen: (string | number)[] = []
  for await (const part of recordedExport(deps, request, (onRows) => parts(onRows))) seen.push(part, rows.length)
  expect(seen).toEqual(['heading', 1, 'part 1', 1, 'part 2', 1, 'part 3', 1])
  expect(rows).toEqual([
    {
      ...{ id: 'export.started:req_1', at: 7, actor: 'user:a@example.com', action: 'export.started', subject: 'req_1' },
      ...{ workspaceId: 'w', mode: 'test', detail: { what: 'invoices', status: 'paid' } },
    },
    expect.objectContaining({ id: 'export.ended:req_1', detail: { what: 'invoices', rows: 30, complete: true } }),
  ])
})

// Guarantee: whoever takes half a file and hangs up has taken half a file.
it('records how far it came when its reader goes away', async () => {
  const { rows, deps } = stage()
  for await (const part of recordedExport(deps, request, (onRows) => parts(onRows))) if (part === 'part 2') break
  expect(rows[1]?.detail).toEqual({ what: 'invoices', rows: 20, complete: false })
})

it('records how far it came when the store fails, and fails with its error', async () => {
  const { rows, deps } = stage()
  const read = async () => {
    for await (const _part of recordedExport(deps, request, (onRows) => parts(onRows, 1)));
  }
  await expect(read()).rejects.toThrow('the store is away')
  expect(rows[1]?.detail).toEqual({ what: 'invoices', rows: 10, complete: false })
})
