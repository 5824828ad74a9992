import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readIdList, visitIds } from './id-list.ts'

const id = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 })

async function idsOf(text: string): Promise<readonly string[]> {
  const ids: string[] = []
  await visitIds(readIdList(text)?.result ?? [], (one) => ids.push(one))
  return ids
}

describe('a list of transaction ids', () => {
  it('is what JSON.parse makes of it, however a node spaces it', async () => {
    const frame = fc.constantFrom(
      (list: string) => `{"result":${list},"error":null,"id":7}`,
      (list: string) => ` { "jsonrpc" : "2.0" , "id" : 7 , "result" : ${list} }\n`,
    )
    await fc.assert(
      fc.asyncProperty(fc.array(id, { maxLength: 30 }), frame, fc.nat(2), async (ids, make, indent) => {
        const text = make(JSON.stringify(ids, null, indent))
        expect(await idsOf(text)).toEqual(JSON.parse(text).result)
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    '"x"',
    `"${'A'.repeat(64)}"`,
    '7',
    `"${'a'.repeat(64)}" "${'b'.repeat(64)}"`,
    `"${'a'.repeat(64)}`,
    '[]',
    ',',
  ])('with %s in it is refused', async (part) => {
    const text = `{"result":["${'c'.repeat(64)}",${part}],"error":null}`
    await expect(idsOf(text)).rejects.toMatchObject({ kind: 'retry' })
  })

  it.each([
    '',
    '{"result":null,"error":{"code":-32601,"message":"no [such] method"}}',
    'Too many [requests]',
    '{"result":{"a":[]}}',
  ])('is not found in %s', (text) => {
    expect(readIdList(text)).toBeNull()
  })
})
