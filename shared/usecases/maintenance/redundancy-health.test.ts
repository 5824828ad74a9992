import { expect, it } from 'vitest'
import type { StoreRedundancy } from '#shared/ports/store-redundancy.ts'
import { redundancyHealth } from './redundancy-health.ts'

const HOUR_MS = 3_600_000
const SOUND: StoreRedundancy = {
  members: { total: 3, healthy: 3, faults: [], lagMs: 1_000 },
  oplog: { windowMs: 60 * HOUR_MS, truncations: 4 },
  disk: { usedBytes: 40 * 2 ** 30, totalBytes: 100 * 2 ** 30 },
  isDenied: false,
}
const members = (change: Partial<NonNullable<StoreRedundancy['members']>>) => ({
  members: { total: 3, healthy: 3, faults: [], lagMs: 0, ...change },
})

it.each<[string, Partial<StoreRedundancy>, readonly (string | RegExp)[]]>([
  ['all is well', {}, []],
  ['a member is gone', members({ healthy: 2, faults: ['b:27017: (not reachable/healthy)'] }), [/2 of 3 .*b:27017/]],
  ['a member is behind', members({ lagMs: 61_000 }), [/61 s behind/]],
  ['an installation has one member', members({ total: 1, healthy: 1 }), []],
  [
    'the oplog was cut and is short',
    { oplog: { windowMs: 23 * HOUR_MS, truncations: 1 } },
    [/23\.0 h, less than a day/],
  ],
  ['the oplog is short because the server is young', { oplog: { windowMs: HOUR_MS, truncations: 0 } }, []],
  ['the disk fills', { disk: { usedBytes: 86, totalBytes: 100 } }, [/86 % full/]],
  ['the store says nothing', { members: null, oplog: null, disk: null, isDenied: true }, []],
])('counts as a fault what needs an operator: %s', (_when, change, faults) => {
  const health = redundancyHealth({ ...SOUND, ...change })
  expect(health.faults).toEqual(faults.map((fault) => expect.stringMatching(fault)))
})

it('says which right is missing, as a remark', () => {
  const { faults, facts } = redundancyHealth({ ...SOUND, members: null, oplog: null, isDenied: true })
  expect(faults).toEqual([])
  expect(facts.join()).toContain('the role clusterMonitor on admin')
})
