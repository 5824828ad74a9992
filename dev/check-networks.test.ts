import { expect, it } from 'vitest'
import { filesNamingNetworks, readSources } from './check-networks.ts'

it('finds no file of the product that names a network beside its rows', () => {
  const sources = readSources(['services', 'shared'])
  expect(sources.size).toBeGreaterThan(500)
  expect(filesNamingNetworks(sources)).toEqual([])
})

it.each([
  ["if (network === 'polygon') return 1", true],
  ['const NAMES = {\n  arbitrum: 1,\n}', true],
  ["import { base } from './base.ts'", false],
  ["// 'base' as in '0.base'", true],
  ["const asset = 'usdc_base'", false],
])('looks for literals and keys of tables: %s', (text, isFound) => {
  expect(filesNamingNetworks(new Map([['services/x.ts', text]])).length > 0).toBe(isFound)
  expect(filesNamingNetworks(new Map([['shared/chains/definitions/x.ts', text]]))).toEqual([])
})
