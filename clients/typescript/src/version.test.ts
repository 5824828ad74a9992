import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLIENT_VERSION } from './version.ts'

test('the version that is sent is the version of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  expect(CLIENT_VERSION).toBe(manifest.version)
})
