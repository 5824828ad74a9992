import { expect, it } from 'vitest'
import { SERVICE_NAMES } from '#scripts/service/services.ts'
import { readProcfile } from './procfile.ts'

it('has one line per service, in the order in which they start', () => {
  const lines = readProcfile()
  expect(lines.map((line) => line.name)).toEqual([...SERVICE_NAMES])
  for (const { name, command, args } of lines) {
    expect([command, ...args.slice(-2)]).toEqual([process.execPath, 'scripts/service.mjs', name])
    expect(args.slice(0, -2).every((flag) => flag.startsWith('--'))).toBe(true)
  }
})
