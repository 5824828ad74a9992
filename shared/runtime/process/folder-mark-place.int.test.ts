import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFolderMarkPlace } from './folder-mark-place.ts'

const RECORD = { installation: '00000000-0000-4000-8000-000000000001', life: '00000000-0000-4000-8000-000000000002' }
const WRITER = '00000000-0000-4000-8000-000000000004'
const FORMER = '00000000-0000-4000-8000-000000000003'
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-folder-marks-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const texts = (text: string) => new Map([['ceiling:key', text]])
const hoursOld = (name: string) => utimesSync(join(folder, name), new Date(0), new Date(0))

// Guarantee: a full volume has room again as soon as somebody makes some.
it('removes what killed writers left, and leaves nothing of writings that fail', async () => {
  await createFolderMarkPlace(folder, FORMER).raise(RECORD, texts('5 a'))
  const [former = ''] = readdirSync(folder)
  hoursOld(former)
  writeFileSync(join(folder, `${former}.killed.draft`), '{')
  hoursOld(`${former}.killed.draft`)

  const place = createFolderMarkPlace(folder, WRITER)
  await place.raise(RECORD, texts('6 a'))
  const [own = '', ...others] = readdirSync(folder)
  expect([own, others]).toEqual([former.replace(FORMER, WRITER), []])

  // A folder in the place of the file: nothing replaces it.
  rmSync(join(folder, own))
  mkdirSync(join(folder, own))
  for (let turn = 0; turn < 5; turn += 1) await expect(place.raise(RECORD, texts('7 a'))).rejects.toThrow(own)
  expect(readdirSync(folder)).toEqual([own])

  rmSync(join(folder, own), { recursive: true })
  await place.raise(RECORD, texts('8 a'))
  expect(await place.read(RECORD, ['ceiling:key'])).toEqual(new Map([['ceiling:key', ['8 a']]]))
})
