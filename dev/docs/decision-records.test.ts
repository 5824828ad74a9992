import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deepTest } from '#test/support/depth.ts'
import { decisionRecords } from './decision-records.ts'

const SCRIPT = join(import.meta.dirname, '../decision-index.ts')
const GOOD = `# 0001. Invoices are saved once

* Status: accepted
* Date: 2026-11-21

## Context

Two writes can lose one.

## Decision

One write. See [0002](0002-second.md).

## Alternatives

None was recorded.

## Consequences

* One insert.

## Evidence

* A test.
`
const SECOND = GOOD.replace('# 0001. Invoices', '# 0002. Payments').replace(' See [0002](0002-second.md).', '')
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-decisions-'))
  write('0001-first.md', GOOD)
  write('0002-second.md', SECOND)
  write('TEMPLATE.md', '# NNNN. Title\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
const faults = () => decisionRecords(folder).faults

it('accepts records that follow the template', () => {
  expect(faults()).toEqual([])
})

it('accepts a record of what is designed and not built', () => {
  write('0001-first.md', GOOD.replace('Status: accepted', 'Status: proposed'))
  expect(faults()).toEqual([])
})

it('accepts the records of this repository', () => {
  expect(decisionRecords('docs/decisions').faults).toEqual([])
})

describe('names the file and the fault', () => {
  it.each<readonly [fault: string, text: string, report: string]>([
    ['lacks a section', GOOD.replace('## Alternatives', '### Alternatives'), 'lacks "## Alternatives"'],
    ['has an empty section', GOOD.replace('* A test.\n', ''), '"## Evidence" is empty'],
    ['has another section', `${GOOD}\n## Notes\n\nMore.\n`, 'its sections are not exactly'],
    ['has its sections in another order', swapped(), 'its sections are not exactly'],
    ['has a title of another number', GOOD.replace('# 0001.', '# 0003.'), 'its title has the number 0003'],
    ['has no title', GOOD.replace('# 0001. ', '# 1. '), 'its first line is not'],
    ['has a status outside the list', GOOD.replace('accepted', 'probably fine'), 'its status "probably fine"'],
    ['is superseded by nothing', GOOD.replace('accepted', 'superseded by 0002'), 'its status "superseded by 0002"'],
    ['has an impossible date', GOOD.replace('2026-11-21', '2026-02-30'), 'its date "2026-02-30"'],
    ['links to a record that is gone', GOOD.replace('0002-second', '0002-gone'), 'links to 0002-gone.md'],
    ['uses a code from elsewhere', GOOD.replace('One write.', 'One write (S4).'), 'uses "S4"'],
    ['is too long', `${GOOD}${'* More.\n'.repeat(300)}`, 'has 324 lines'],
  ])('a record that %s', (_fault, text, report) => {
    write('0001-first.md', text)
    expect(faults()).toContainEqual(expect.stringContaining(`0001-first.md: ${report}`))
  })

  it('a number that is used twice', () => {
    write('0002-another.md', SECOND)
    expect(faults()).toEqual(['0002 is used by 0002-another.md and 0002-second.md'])
  })

  it('a change that only the later record states', () => {
    write('0002-second.md', SECOND.replace('lose one.', 'lose one. This amends [0001](0001-first.md).'))
    expect(faults()).toEqual([
      '0001-first.md: its status does not name 0002, which says that it amends or supersedes it',
    ])
  })

  it('a change that only the earlier record states', () => {
    write('0001-first.md', GOOD.replace('accepted', 'amended by [0002](0002-second.md)'))
    const sentence = 'This amends [0001](0001-first.md)'
    expect(faults()).toEqual([`0002-second.md: does not say "${sentence}", as the status of that record does`])
  })

  it('a file whose name is not that of a record', () => {
    write('notes.md', SECOND)
    expect(faults()).toContainEqual('notes.md: its name is not NNNN-kebab-title.md')
  })

  it('a folder without records', () => {
    rmSync(join(folder, '0001-first.md'))
    rmSync(join(folder, '0002-second.md'))
    expect(faults()).toEqual([`${folder} contains no record`])
  })
})

it('accepts a record that others superseded or amended', () => {
  const link = '[0002](0002-second.md)'
  write('0002-second.md', SECOND.replace('lose one.', 'lose one. This amends\n[0001](0001-first.md).'))
  for (const status of [`amended by ${link} (the unit), ${link}`, `superseded by ${link}`]) {
    write('0001-first.md', GOOD.replace('accepted', status))
    expect(faults()).toEqual([])
    expect(decisionRecords(folder).index).toContain(`| Invoices are saved once | ${status} | 2026-11-21 |`)
  }
})

/** The program as `npm run check` starts it. */
function run(...args: readonly string[]) {
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', SCRIPT, ...args, folder], {
    encoding: 'utf8',
  })
  return { status, stderr }
}

deepTest('the program fails on a stale index until it is generated, and on a faulty record either way', () => {
  const stale = { status: 1, stderr: expect.stringContaining('README.md is out of date') }
  expect(run('--check')).toEqual(stale)
  expect(run()).toEqual({ status: 0, stderr: '' })
  expect(run('--check')).toEqual({ status: 0, stderr: '' })
  write('0003-third.md', SECOND.replace('# 0002.', '# 0003.'))
  expect(run('--check')).toEqual(stale)
  write('0003-third.md', SECOND)
  expect(run()).toEqual({ status: 1, stderr: '0003-third.md: its title has the number 0002\n' })
})

function swapped(): string {
  return GOOD.replace('## Context', '## X').replace('## Decision', '## Context').replace('## X', '## Decision')
}
