import type { Command } from 'commander'
import { describe, expect, it, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createProgram, runCli } from './main.ts'

/** Every command that does something, by its full name. */
function leavesOf(command: Command, path: readonly string[] = []): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.join(' '), command]]
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]))
}

const LEAVES = leavesOf(createProgram())

it('has the commands that people on call need', () => {
  const names = LEAVES.map(([name]) => name)
  const needed = [
    'workspace create',
    'api-key revoke',
    'invoice explain',
    'tx explain',
    'chain rescan',
    'delivery resend',
  ]
  expect(names).toEqual(expect.arrayContaining([...needed, 'migrate', 'doctor', 'audit verify', 'reconcile', 'pay']))
  expect(new Set(names).size).toBe(names.length)
})

describe.each(LEAVES)('%s', (name, command) => {
  it('explains itself and can answer in JSON', () => {
    const help = command.helpInformation()
    expect(command.description()).not.toBe('')
    expect(help).toContain(command.description().slice(0, 20))
    // It prints no value: its output is the log, a JSON object per line.
    if (name !== 'serve') expect(help).toContain('--json')
    for (const option of command.options) expect([option.flags, option.description]).not.toEqual([option.flags, ''])
  })
})

it('prints the version of the package and ends with 0', async () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    expect(await runCli(['--version'])).toBe(0)
    expect(written.mock.calls.map(([text]) => text).join('')).toBe(`${manifest.version}\n`)
  } finally {
    written.mockRestore()
  }
})
