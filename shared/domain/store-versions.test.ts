import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { classifyVersion, STORE_VERSIONS } from './store-versions.ts'

it.each([
  ['MongoDB', '5.0.31', 'MongoDB 5.0.31 is too old: MongoDB 6.0 or later is supported', null],
  ['MongoDB', '6.0.5', null, null],
  ['MongoDB', '7.0.2', null, 'newer than 6.0, which the tests run'],
  ['MongoDB', '10.0.0', null, 'newer than 6.0, which the tests run'],
  ['Redis', '6.0.16', 'Redis 6.0.16 is too old: Redis 6.2 or later is supported', null],
  ['Redis', '6.2.0', null, null],
  ['Redis', '7.0.15', null, null],
  ['Redis', '7.4.1', null, 'newer than 7.0, which the tests run'],
  ['Redis', null, null, 'the version of Redis cannot be read'],
  ['Redis', 'x', null, 'the version of Redis cannot be read'],
] as const)('classifies %s %s', (store, version, fault, remark) => {
  expect(classifyVersion(store, version)).toEqual({ fault, remark })
})

it('is what the page about the stores says', () => {
  const page = readFileSync('deploy/README.md', 'utf8')
  for (const [store, { min, testedMax }] of Object.entries(STORE_VERSIONS))
    expect(page).toContain(`| ${store} | ${min.join('.')} or later | ${testedMax.join('.')} |`)
})
