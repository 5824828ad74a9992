import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const PLACES = ['services/checkout/web/src', 'services/dashboard/src', 'shared/styles']

// Guarantee: a text size in pixels, which the browser's setting for larger text does not reach, is found before anyone needs it.
test('no style sheet of a page gives a text a size in pixels', () => {
  const sheets = PLACES.flatMap((place) =>
    readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.css'))
      .map((path) => join(place, path)),
  )
  const found = sheets.flatMap((sheet) =>
    [...readFileSync(join(ROOT, sheet), 'utf8').matchAll(/font(?:-size)?:[^;]*\dpx[^;]*/g)].map(([rule]) => [
      sheet,
      rule,
    ]),
  )
  expect(sheets.length).toBeGreaterThan(15)
  expect(found).toEqual([])
})
