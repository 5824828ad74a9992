import { describe, expect, it } from 'vitest'
import { withCurrentName } from './former-names.ts'
import { createProgram } from './main.ts'

describe('former names of commands', () => {
  it.each([
    ['key create --mode live', 'api-key create --mode live'],
    ['--data x keys rotate-master --json', '--data x master-key rotate --json'],
    ['--data=x exceptions list', '--data=x exception list'],
    ['check-books --since 3', 'reconcile --since 3'],
    ['verify-audit --noted 3:ab', 'audit verify --since 3:ab'],
    ['verify-audit --noted=3:ab', 'audit verify --since=3:ab'],
    ['restore archive f.backup', 'backup restore f.backup'],
    ['restore confirm --unscanned', 'backup confirm-restore --unscanned'],
  ])('%s works and names %s', (former, current) => {
    const found = withCurrentName(former.split(' '))
    expect(found.current.join(' ')).toBe(current)
    expect(found.hint).toMatch(/^"paymesh .+" is now "paymesh .+"/)
    const path = current.split(' ').filter((word) => !word.startsWith('--data') && word !== 'x')
    const [first] = path
    expect(createProgram().commands.map((command) => command.name())).toContain(first)
  })

  it.each(['api-key create', 'invoice show key', 'workspace list', '', '--help'])('%s stays as it is', (line) => {
    expect(withCurrentName(line.split(' '))).toEqual({ current: line.split(' '), hint: null })
  })
})
