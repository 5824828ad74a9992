import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { once } from './once.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-once-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('is made once, however many ask at the same time', async () => {
  let made = 0
  const make = async () => {
    made += 1
    await Promise.resolve()
    return { made }
  }
  const file = join(folder, 'seed.json')
  expect(await Promise.all([once(file, make), once(file, make), once(file, make)])).toEqual([
    { made: 1 },
    { made: 1 },
    { made: 1 },
  ])
  expect(await once(file, make)).toEqual({ made: 1 })
})

it('is made by the next one when the first failed, who says so', async () => {
  const file = join(folder, 'seed.json')
  const failing = once(file, () => Promise.reject(new Error('no store')))
  const next = once(file, () => Promise.resolve('made'))
  await expect(failing).rejects.toThrow('no store')
  expect(await next).toBe('made')
})

it('fails at once in a folder that does not exist', async () => {
  await expect(once(join(folder, 'gone', 'seed.json'), () => Promise.resolve(1))).rejects.toThrow('ENOENT')
})
